import { addUser, aptInstall } from '../dockerfile/debian.ts';
import {
  cmd,
  copy,
  dockerfile,
  env,
  expose,
  from,
  type Instruction,
  run,
  user,
  workdir,
} from '../dockerfile/dockerfile.ts';
import { serveSite, siteFolder } from '../dockerfile/site.dockerfile.ts';
import { startWords } from '../dockerfile/start-words.ts';
import { bestOf, type Candidates, candidates, type Found, found } from '../finding.ts';
import { fallbackVersion, majorMinor, versionInFile, versionOfTool } from '../findings/declared-versions.ts';
import type { Folder } from '../repository/folder.ts';
import { textAt } from '../repository/plain-values.ts';
import { type BuildPlan, noFacts, portOr, type Stack, type StackFacts } from '../stack.ts';

const currentRuby = '3.4';
const manifests = ['Gemfile', 'gems.rb'];
const locks = ['Gemfile.lock', 'gems.locked'];

export const rubyStack: Stack = {
  language: 'ruby',

  sign(folder) {
    const strong = folder.first(['config/application.rb', 'config.ru', 'bin/rails']);
    if (strong !== null) return sign(folder, strong, 0.95);
    const manifest = folder.first(manifests);
    const program = folder.names.find(name => name.endsWith('.rb') && !manifests.includes(name));
    const isMobile = folder.hasFolder('ios') || folder.hasFolder('android') || folder.hasFolder('fastlane');
    if (manifest !== null) return sign(folder, manifest, isMobile ? 0.5 : program === undefined ? 0.8 : 0.92);
    return program === undefined ? null : sign(folder, program, 0.45);
  },

  describe: describeRuby,
  dockerfile: rubyDockerfile,
};

const sign = (folder: Folder, file: string, confidence: number): Found<string> =>
  found('ruby', folder.where(file), `${file} belongs to a Ruby program`, confidence);

function describeRuby(folder: Folder): StackFacts {
  const frameworks = frameworkOf(folder);
  const framework = bestOf(frameworks);
  const isSite = framework === 'jekyll' || framework === 'middleman';
  const manifest = folder.first(manifests);
  return {
    ...noFacts,
    languageVersion: rubyVersionOf(folder),
    framework: frameworks,
    packageManager:
      manifest === null ? [] : [found('bundler', folder.where(manifest), `${manifest} is its manifest`, 0.97)],
    installCommand:
      manifest === null ? [] : [found('bundle install', folder.where(manifest), 'installs what is asked for', 0.95)],
    buildCommand: buildOf(folder, framework),
    startCommand: isSite ? [] : startOf(folder, framework),
    releaseCommand:
      framework === 'rails' ? [found('bundle exec rails db:prepare', null, 'Rails prepares its database', 0.85)] : [],
    outputDirectory: isSite ? outputOf(folder, framework) : [],
    isStatic: [found(isSite, null, isSite ? `${framework} builds files` : 'Ruby programs serve by themselves', 0.95)],
    port: isSite
      ? []
      : [found(framework === 'sinatra' && !folder.has('config.ru') ? 4567 : 3000, null, 'the usual port', 0.7)],
  };
}

/** Gems by name, from the lock file where there is one: the Gemfile is a program. */
export function gemsOf(folder: Folder): ReadonlyMap<string, string> {
  const gems = new Map<string, string>();
  for (const file of [...manifests, ...locks].filter(name => folder.has(name))) {
    const text = folder.text(file) ?? '';
    const pattern = locks.includes(file)
      ? /^ {2,6}([\w-]{1,100})(?: \(|$|!$)/gm
      : /^\s{0,8}gem\s{1,4}['"]([\w-]{1,100})['"]/gm;
    for (const [, name] of text.matchAll(pattern)) gems.set(name as string, folder.where(file));
  }
  return gems;
}

function frameworkOf(folder: Folder): Candidates<string> {
  const gems = gemsOf(folder);
  const byGem = (name: string, gem: string) =>
    gems.has(gem) ? found(name, gems.get(gem) ?? null, `it uses the gem ${gem}`, 0.93) : null;
  const rails = folder.first(['config/application.rb', 'bin/rails']);
  return candidates(
    rails !== null && found('rails', folder.where(rails), `${rails} is Rails'`, 0.97),
    byGem('jekyll', 'jekyll'),
    folder.has('_config.yml') && !gems.has('rails')
      ? found('jekyll', folder.where('_config.yml'), "_config.yml is Jekyll's", 0.85)
      : null,
    byGem('middleman', 'middleman'),
    byGem('rails', 'rails'),
    byGem('hanami', 'hanami'),
    byGem('sinatra', 'sinatra'),
    byGem('roda', 'roda'),
    byGem('grape', 'grape'),
  );
}

function startOf(folder: Folder, framework: string | null): Candidates<string> {
  const gems = gemsOf(folder);
  const port = portOr(3000);
  const program =
    folder.first(['app.rb', 'main.rb', 'server.rb', 'web.rb', 'myapp.rb']) ??
    folder.names.find(name => name.endsWith('.rb') && !manifests.includes(name)) ??
    null;
  return candidates(
    framework === 'rails' &&
      found(`bundle exec bin/rails server -b 0.0.0.0 -p ${port}`, folder.where('bin/rails'), 'Rails serves', 0.93),
    folder.has('config/puma.rb') && gems.has('puma')
      ? found('bundle exec puma -C config/puma.rb', folder.where('config/puma.rb'), 'Puma is configured', 0.9)
      : null,
    folder.has('config.ru') &&
      found(
        `bundle exec rackup config.ru -o 0.0.0.0 -p ${port}`,
        folder.where('config.ru'),
        'config.ru is for a Rack server',
        0.9,
      ),
    program !== null && /^[\w.-]+$/.test(program)
      ? found(
          `${folder.first(manifests) ? 'bundle exec ' : ''}ruby ${program}`,
          folder.where(program),
          `${program} is there`,
          0.75,
        )
      : null,
    folder.has('Rakefile') &&
      found('bundle exec rake', folder.where('Rakefile'), 'there is nothing but a Rakefile', 0.5),
  );
}

function buildOf(folder: Folder, framework: string | null): Candidates<string> {
  const gems = gemsOf(folder);
  if (framework === 'jekyll') return [found('bundle exec jekyll build', null, 'Jekyll builds like this', 0.9)];
  if (framework === 'middleman') return [found('bundle exec middleman build', null, 'Middleman builds like this', 0.9)];
  const pipeline = [
    'propshaft',
    'sprockets',
    'sprockets-rails',
    'sass-rails',
    'webpacker',
    'vite_rails',
    'jsbundling-rails',
  ].find(gem => gems.has(gem));
  const hasAssets = framework === 'rails' && (pipeline !== undefined || folder.hasFolder('app/assets'));
  return hasAssets
    ? [found('bundle exec rake assets:precompile', gems.get(pipeline ?? '') ?? null, 'it has an asset pipeline', 0.9)]
    : [];
}

function outputOf(folder: Folder, framework: string | null): Candidates<string> {
  const written = folder.has('_config.yml') ? textAt(folder.yaml('_config.yml'), 'destination') : null;
  const isInside = written !== null && /^(?:\.\/)?[\w-][\w./-]*$/.test(written);
  return candidates(
    isInside ? found(written.replace(/^\.\//, ''), folder.where('_config.yml'), '_config.yml names it', 0.95) : null,
    found(framework === 'jekyll' ? '_site' : 'build', null, `${framework} writes there by default`, 0.9),
  );
}

function rubyVersionOf(folder: Folder): Candidates<string> {
  const inGemfile = /^\s{0,4}ruby\s{1,4}['"](?:[~>=<]{1,2}\s{0,2})?(\d+\.\d+(?:\.\d+)?)/m.exec(
    folder.text('Gemfile') ?? '',
  )?.[1];
  const inLock = /^RUBY VERSION\r?\n\s{1,8}ruby (\d+\.\d+\.\d+)/m.exec(folder.text('Gemfile.lock') ?? '')?.[1];
  return candidates(
    versionInFile(folder, '.ruby-version'),
    inGemfile !== undefined && found(inGemfile, folder.where('Gemfile'), 'the Gemfile names it', 0.95),
    inLock !== undefined && found(inLock, folder.where('Gemfile.lock'), 'the lock file names it', 0.9),
    versionOfTool(folder, 'ruby'),
    fallbackVersion(currentRuby, 'Ruby'),
  );
}

function rubyDockerfile(folder: Folder, plan: BuildPlan): string {
  const version = /^[234]\.\d+(?:\.\d+)?$/.exec(plan.languageVersion ?? '')?.[0] ?? currentRuby;
  const image = `ruby:${majorMinor(version)}-slim`;
  const gems = gemsOf(folder);
  const libraries = librariesOf(gems);
  const production = {
    RAILS_ENV: 'production',
    RACK_ENV: 'production',
    BUNDLE_WITHOUT: 'development:test',
    BUNDLE_PATH: '/usr/local/bundle',
  };
  const building: Instruction[] = [
    from(image, 'build'),
    workdir('/app'),
    env(production),
    aptInstall(
      'build-essential',
      'git',
      'libyaml-dev',
      'pkg-config',
      ...libraries.build,
      ...(folder.has('package.json') ? ['nodejs', 'npm'] : []),
    ),
    ...gemsFirst(folder, plan),
    copy(['.'], './'),
    folder.has('package.json') && run('npm install'),
    run(plan.buildCommand === null ? null : withDummyKey(plan)),
  ];
  if (plan.isStatic) {
    const { path, moving } = siteFolder(plan.outputDirectory ?? '_site');
    return dockerfile(
      ...building,
      moving,
      ...serveSite({ stage: 'build', path, port: plan.port, isSinglePage: false }),
    );
  }
  return dockerfile(
    ...building,
    from(image, 'runtime'),
    workdir('/app'),
    aptInstall('libyaml-0-2', ...libraries.run),
    addUser(),
    env({ ...production, PORT: plan.port, RAILS_LOG_TO_STDOUT: '1', RAILS_SERVE_STATIC_FILES: '1' }),
    copy(['/usr/local/bundle'], '/usr/local/bundle', { from: 'build' }),
    copy(['/app'], '/app', { from: 'build', owner: 'app:app' }),
    user('app'),
    expose(plan.port),
    cmd(startWords(plan.startCommand)),
  );
}

/** Rails wants a key even to build assets; this switch makes it invent one for the while. */
const withDummyKey = (plan: BuildPlan): string =>
  plan.framework === 'rails' && plan.buildCommand === 'bundle exec rake assets:precompile'
    ? `SECRET_KEY_BASE_DUMMY=1 SECRET_KEY_BASE=build-only ${plan.buildCommand}`
    : (plan.buildCommand as string);

function gemsFirst(folder: Folder, plan: BuildPlan): Instruction[] {
  if (plan.installCommand === null) return [];
  const present = [...manifests, ...locks, '.ruby-version'].filter(name => folder.has(name));
  const hasLocalGems = /\bpath:|\bgemspec\b/.test(folder.text('Gemfile') ?? '');
  const cache = { id: `${plan.cacheScope}-gem`, target: '/usr/local/bundle/cache' };
  return [
    plan.hasOwnInstall || hasLocalGems ? copy(['.'], './') : copy(present, './'),
    run(plan.installCommand, cache),
  ];
}

/** Gems that are compiled against a library of the system. */
function librariesOf(gems: ReadonlyMap<string, string>) {
  const known: readonly (readonly [gem: string, build: string, run: string])[] = [
    ['pg', 'libpq-dev', 'libpq5'],
    ['mysql2', 'default-libmysqlclient-dev', 'libmariadb3'],
    ['sqlite3', 'libsqlite3-dev', 'libsqlite3-0'],
    ['ruby-vips', 'libvips-dev', 'libvips42'],
    ['image_processing', 'libvips-dev', 'libvips42'],
    ['rmagick', 'libmagickwand-dev', 'libmagickwand-6.q16-6'],
    ['charlock_holmes', 'libicu-dev', 'libicu72'],
  ];
  const needed = known.filter(([gem]) => gems.has(gem));
  return { build: needed.map(([, build]) => build), run: needed.map(([, , runtime]) => runtime) };
}
