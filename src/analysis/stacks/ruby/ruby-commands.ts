import { type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { textAt } from '../../repository/plain-values.ts';
import { portOr } from '../../stack.ts';
import { gemManifests, gemsOf } from './ruby-gems.ts';

const hostAndPort = (option: string): string => `${option} 0.0.0.0 -p ${portOr(3000)}`;

export function rubyStartOf(folder: Folder, framework: string | null): Candidates<string> {
  return candidates(
    framework === 'rails' &&
      found(`bundle exec bin/rails server ${hostAndPort('-b')}`, folder.where('bin/rails'), 'Rails serves', 0.93),
    byPuma(folder),
    folder.has('config.ru') &&
      found(
        `bundle exec rackup config.ru ${hostAndPort('-o')}`,
        folder.where('config.ru'),
        'config.ru is for Rack',
        0.9,
      ),
    mainProgram(folder),
    folder.has('Rakefile') && found('bundle exec rake', folder.where('Rakefile'), 'all there is is a Rakefile', 0.5),
  );
}

function byPuma(folder: Folder): Found<string> | null {
  const isConfigured = folder.has('config/puma.rb') && gemsOf(folder).has('puma');
  return isConfigured
    ? found('bundle exec puma -C config/puma.rb', folder.where('config/puma.rb'), 'Puma is configured', 0.9)
    : null;
}

function mainProgram(folder: Folder): Found<string> | null {
  const others = folder.names.filter(name => name.endsWith('.rb') && !gemManifests.includes(name));
  const program = folder.first(['app.rb', 'main.rb', 'server.rb', 'web.rb']) ?? others[0] ?? '';
  if (!/^[\w.-]+$/.test(program)) return null;
  const bundled = folder.first(gemManifests) === null ? '' : 'bundle exec ';
  return found(`${bundled}ruby ${program}`, folder.where(program), `${program} is there`, 0.75);
}

const assetPipelines = [
  ...['propshaft', 'sprockets', 'sprockets-rails', 'sass-rails', 'webpacker', 'vite_rails', 'jsbundling-rails'],
];

export function rubyBuildOf(folder: Folder, framework: string | null): Candidates<string> {
  if (framework === 'jekyll') return [found('bundle exec jekyll build', null, 'Jekyll builds like this', 0.9)];
  if (framework === 'middleman') return [found('bundle exec middleman build', null, 'Middleman builds like this', 0.9)];
  const gems = gemsOf(folder);
  const pipeline = assetPipelines.find(gem => gems.has(gem));
  const hasAssets = framework === 'rails' && (pipeline !== undefined || folder.hasFolder('app/assets'));
  if (!hasAssets) return [];
  return [
    found('bundle exec rake assets:precompile', gems.get(pipeline ?? '') ?? null, 'it has an asset pipeline', 0.9),
  ];
}

export function rubyOutputOf(folder: Folder, framework: string | null): Candidates<string> {
  const written = folder.has('_config.yml') ? textAt(folder.yaml('_config.yml'), 'destination') : null;
  const isInside = written !== null && /^(?:\.\/)?[\w-][\w./-]*$/.test(written);
  return candidates(
    isInside ? found(written.replace(/^\.\//, ''), folder.where('_config.yml'), '_config.yml names it', 0.95) : null,
    found(framework === 'jekyll' ? '_site' : 'build', null, `${framework} writes there by default`, 0.9),
  );
}
