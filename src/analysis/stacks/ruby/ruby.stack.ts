import { fallbackVersion, versionInFile, versionOfTool } from '../../declared/versions.ts';
import { bestOf, type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { noFacts, type Stack, type StackFacts } from '../../stack.ts';
import { currentRuby, rubyDockerfile } from './ruby.dockerfile.ts';
import { rubyBuildOf, rubyOutputOf, rubyStartOf } from './ruby-commands.ts';
import { gemManifests, gemsOf } from './ruby-gems.ts';

export const rubyStack: Stack = {
  language: 'ruby',

  sign(folder) {
    const strong = folder.first(['config/application.rb', 'config.ru', 'bin/rails']);
    if (strong !== null) return sign(folder, strong, 0.95);
    const manifest = folder.first(gemManifests);
    const program = folder.names.find(name => name.endsWith('.rb') && !gemManifests.includes(name));
    const isMobile = folder.hasFolder('ios') || folder.hasFolder('android') || folder.hasFolder('fastlane');
    if (manifest !== null) return sign(folder, manifest, isMobile ? 0.5 : program === undefined ? 0.8 : 0.92);
    const isJekyll =
      folder.has('_config.yml') &&
      (folder.hasFolder('_posts') || folder.hasFolder('_layouts') || folder.has('index.md'));
    if (isJekyll) return sign(folder, '_config.yml', 0.7);
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
  const manifest = folder.first(gemManifests);
  return {
    ...noFacts,
    languageVersion: rubyVersionOf(folder),
    framework: frameworks,
    packageManager:
      manifest === null ? [] : [found('bundler', folder.where(manifest), `${manifest} is its manifest`, 0.97)],
    installCommand:
      manifest === null ? [] : [found('bundle install', folder.where(manifest), 'installs what is asked for', 0.95)],
    buildCommand: rubyBuildOf(folder, framework),
    startCommand: isSite ? [] : rubyStartOf(folder, framework),
    releaseCommand:
      framework === 'rails' ? [found('bundle exec rails db:prepare', null, 'Rails prepares its database', 0.85)] : [],
    outputDirectory: isSite ? rubyOutputOf(folder, framework) : [],
    isStatic: [found(isSite, null, isSite ? `${framework} builds files` : 'Ruby programs serve by themselves', 0.95)],
    port: isSite
      ? []
      : [found(framework === 'sinatra' && !folder.has('config.ru') ? 4567 : 3000, null, 'the usual port', 0.7)],
  };
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
