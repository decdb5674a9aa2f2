import {
  cmd,
  copy,
  dockerfile,
  env,
  expose,
  from,
  type Instruction,
  isCopyable,
  run,
  user,
  workdir,
} from '../dockerfile/dockerfile.ts';
import { startWords } from '../dockerfile/start-words.ts';
import { bestOf, type Candidates, candidates, type Found, found } from '../finding.ts';
import {
  fallbackVersion,
  firstVersion,
  majorMinor,
  versionInFile,
  versionOfTool,
} from '../findings/declared-versions.ts';
import type { Folder } from '../repository/folder.ts';
import { objectAt, textAt } from '../repository/plain-values.ts';
import { type BuildPlan, noFacts, type Stack } from '../stack.ts';

const currentPhp = '8.4';
const entries = [
  'index.php',
  'public/index.php',
  'htdocs/index.php',
  'web/index.php',
  'www/index.php',
  'public_html/index.php',
];

export const phpStack: Stack = {
  language: 'php',

  sign(folder) {
    const strong = folder.first(['artisan', 'symfony.lock', 'bin/console', 'wp-config.php', 'wp-load.php']);
    if (folder.has('composer.json'))
      return sign(folder, 'composer.json', strong !== null || folder.first(entries) !== null ? 0.96 : 0.86);
    const entry = folder.first(entries);
    if (entry !== null) return sign(folder, entry, 0.9);
    const program = folder.names.find(name => name.endsWith('.php'));
    return program === undefined ? null : sign(folder, program, 0.45);
  },

  describe(folder) {
    const frameworks = frameworkOf(folder);
    const hasComposer = folder.has('composer.json');
    return {
      ...noFacts,
      languageVersion: phpVersionOf(folder),
      framework: frameworks,
      packageManager: hasComposer
        ? [found('composer', folder.where('composer.json'), 'composer.json is its manifest', 0.98)]
        : [],
      installCommand: hasComposer
        ? [
            found(
              'composer install --no-dev --no-interaction --prefer-dist --optimize-autoloader',
              folder.where('composer.json'),
              'without what only development needs',
              0.95,
            ),
          ]
        : [],
      startCommand: [
        found('frankenphp run --config /etc/frankenphp/Caddyfile', null, 'FrankenPHP serves PHP by itself', 0.85),
      ],
      releaseCommand:
        bestOf(frameworks) === 'laravel'
          ? [found('php artisan migrate --force', folder.where('artisan'), 'Laravel migrates its database', 0.9)]
          : [],
      isStatic: [found(false, null, 'PHP answers every request by a program', 0.95)],
      port: [found(8080, null, 'the port our PHP image listens on', 0.8)],
    };
  },

  dockerfile: phpDockerfile,
};

const sign = (folder: Folder, file: string, confidence: number): Found<string> =>
  found('php', folder.where(file), `${file} belongs to a PHP application`, confidence);

const frameworkPackages: readonly (readonly [name: string, dependency: string])[] = [
  ['laravel', 'laravel/framework'],
  ['symfony', 'symfony/framework-bundle'],
  ['symfony', 'symfony/symfony'],
  ['lumen', 'laravel/lumen-framework'],
  ['drupal', 'drupal/core-recommended'],
  ['drupal', 'drupal/core'],
  ['codeigniter', 'codeigniter4/framework'],
  ['cakephp', 'cakephp/cakephp'],
  ['yii', 'yiisoft/yii2'],
  ['slim', 'slim/slim'],
  ['laminas', 'laminas/laminas-mvc'],
];

function frameworkOf(folder: Folder): Candidates<string> {
  const wanted = requirementsOf(folder);
  const wordpress = folder.first(['wp-config.php', 'wp-load.php', 'wp-config-sample.php']);
  return candidates(
    ...frameworkPackages.map(([name, dependency]) =>
      Object.hasOwn(wanted, dependency)
        ? found(name, folder.where('composer.json'), `composer.json asks for ${dependency}`, 0.97)
        : null,
    ),
    folder.has('artisan') && found('laravel', folder.where('artisan'), "artisan is Laravel's", 0.9),
    wordpress !== null && found('wordpress', folder.where(wordpress), `${wordpress} is WordPress'`, 0.95),
  );
}

const requirementsOf = (folder: Folder) =>
  objectAt(folder.has('composer.json') ? folder.json('composer.json') : null, 'require');

function phpVersionOf(folder: Folder): Candidates<string> {
  const range = textAt(requirementsOf(folder), 'php');
  const platform = textAt(
    folder.has('composer.json') ? folder.json('composer.json') : null,
    'config',
    'platform',
    'php',
  );
  const version = firstVersion(platform) ?? (range === null ? null : versionInRange(range));
  return candidates(
    version === null
      ? null
      : found(majorMinor(version), folder.where('composer.json'), 'composer.json asks for it', 0.9),
    versionInFile(folder, '.php-version'),
    versionOfTool(folder, 'php'),
    fallbackVersion(currentPhp, 'PHP'),
  );
}

/** "^8.1" and ">=7.4" are met by the current version; "~8.1.0" and "8.2.*" are not. */
function versionInRange(range: string): string {
  const last = range.slice(0, 200).split('|').at(-1)?.trim() ?? '';
  const version = firstVersion(last) ?? currentPhp;
  return /^(?:\^8|>)/.test(last) && !last.includes('<') ? currentPhp : version;
}

/** Where the web server looks: a framework's public folder keeps everything else out of reach. */
function documentRoot(folder: Folder): string {
  const written = textAt(folder.has('composer.json') ? folder.json('composer.json') : null, 'extra', 'public-dir');
  const entry = ['public', 'web', 'htdocs', 'www', 'public_html'].find(name => folder.has(`${name}/index.php`));
  const root = written !== null && isCopyable(written) && !written.includes('..') ? written : (entry ?? '');
  return root === '' ? '/app' : `/app/${root}`;
}

function phpDockerfile(folder: Folder, plan: BuildPlan): string {
  const version = /^8\.[2-9]$/.exec(majorMinor(plan.languageVersion ?? ''))?.[0] ?? currentPhp;
  return dockerfile(
    from('composer:2', 'composer'),

    from(`dunglas/frankenphp:1-php${version}-bookworm`, 'base'),
    workdir('/app'),
    run(`install-php-extensions ${extensionsOf(folder).join(' ')}`),

    from('base', 'build'),
    copy(['/usr/bin/composer'], '/usr/bin/composer', { from: 'composer' }),
    ...packagesFirst(folder, plan),
    copy(['.'], './'),
    folder.has('composer.json') && run('composer dump-autoload --no-dev --optimize'),
    run(plan.buildCommand),
    ...assets(folder, plan),

    from('base', 'runtime'),
    env({
      APP_ENV: plan.framework === 'symfony' ? 'prod' : 'production',
      LOG_CHANNEL: 'stderr',
      PORT: plan.port,
      SERVER_NAME: `:${plan.port}`,
      SERVER_ROOT: documentRoot(folder),
    }),
    copy(['/app'], '/app', { from: 'build', owner: 'www-data:www-data' }),
    ...builtAssets(folder),
    run('chown -R www-data:www-data /data/caddy /config/caddy'),
    user('www-data'),
    expose(plan.port),
    cmd(startWords(plan.startCommand)),
  );
}

/** Scripts and the autoloader need the sources, so they wait for them. */
function packagesFirst(folder: Folder, plan: BuildPlan): Instruction[] {
  if (plan.installCommand === null || !folder.has('composer.json')) return [];
  const present = ['composer.json', 'composer.lock', 'symfony.lock', 'auth.json'].filter(name => folder.has(name));
  const cache = { id: `${plan.cacheScope}-composer`, target: '/root/.composer/cache' };
  if (plan.hasOwnInstall) return [copy(['.'], './'), run(plan.installCommand, cache)];
  return [
    copy(present, './'),
    run('composer install --no-dev --no-interaction --prefer-dist --no-scripts --no-autoloader', cache),
  ];
}

const hasAssets = (folder: Folder): boolean =>
  folder.has('package.json') && textAt(folder.json('package.json'), 'scripts', 'build') !== null;

function assets(folder: Folder, plan: BuildPlan): Instruction[] {
  if (!hasAssets(folder)) return [];
  const lock = folder.has('package-lock.json');
  return [
    from('node:24-bookworm-slim', 'assets'),
    workdir('/app'),
    copy(['package.json', ...(lock ? ['package-lock.json'] : [])], './'),
    run(lock ? 'npm ci' : 'npm install', { id: `${plan.cacheScope}-npm`, target: '/root/.npm' }),
    copy(['/app'], './', { from: 'build' }),
    run('npm run build'),
  ];
}

function builtAssets(folder: Folder): Instruction[] {
  const root = documentRoot(folder);
  return hasAssets(folder) ? [copy([root], root, { from: 'assets', owner: 'www-data:www-data' })] : [];
}

/** Those asked for by name, and those nearly everything needs. */
function extensionsOf(folder: Folder): string[] {
  const asked = Object.keys(requirementsOf(folder)).flatMap(name => /^ext-([a-z0-9_]{2,30})$/.exec(name)?.[1] ?? []);
  const builtIn = new Set([
    'ctype',
    'curl',
    'dom',
    'fileinfo',
    'filter',
    'hash',
    'iconv',
    'json',
    'libxml',
    'mbstring',
    'openssl',
    'pcre',
    'pdo',
    'phar',
    'posix',
    'session',
    'simplexml',
    'sodium',
    'spl',
    'tokenizer',
    'xml',
    'xmlreader',
    'xmlwriter',
    'zlib',
    'date',
    'reflection',
    'standard',
  ]);
  const usual = ['bcmath', 'gd', 'intl', 'opcache', 'pcntl', 'pdo_mysql', 'pdo_pgsql', 'redis', 'zip'];
  return [...new Set([...usual, ...asked.filter(name => !builtIn.has(name))])].sort();
}
