import { majorMinor } from '../../declared/versions.ts';
import { buildStep } from '../../dockerfile/build-step.ts';
import {
  copy,
  dockerfile,
  env,
  from,
  type Instruction,
  isCopyable,
  run,
  workdir,
} from '../../dockerfile/dockerfile.ts';
import { nodeAssetsOf } from '../../dockerfile/node-assets.ts';
import { serve } from '../../dockerfile/serve.ts';
import type { Folder } from '../../repository/folder.ts';
import { textAt } from '../../repository/plain-values.ts';
import type { BuildPlan } from '../../stack.ts';
import { composerOf, requirementsOf } from './composer-manifest.ts';

export const currentPhp = '8.4';

export function phpDockerfile(folder: Folder, plan: BuildPlan): string {
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
    ...buildStep(plan),
    ...assets(folder, plan),
    ...runtimeStage(folder, plan),
  );
}

function runtimeStage(folder: Folder, plan: BuildPlan): Instruction[] {
  const isSymfony = plan.framework === 'symfony';
  const server = { PORT: plan.port, SERVER_NAME: `:${plan.port}`, SERVER_ROOT: documentRoot(folder) };
  return [
    from('base', 'runtime'),
    env({ APP_ENV: isSymfony ? 'prod' : 'production', LOG_CHANNEL: 'stderr', ...server }),
    copy(['/app'], '/app', { from: 'build', owner: 'www-data:www-data' }),
    ...builtAssets(folder),
    run('chown -R www-data:www-data /data/caddy /config/caddy'),
    ...serve('www-data', plan),
  ];
}

/** Where the web server looks: a framework's public folder keeps everything else out of reach. */
function documentRoot(folder: Folder): string {
  const written = textAt(composerOf(folder), 'extra', 'public-dir');
  const entry = ['public', 'web', 'htdocs', 'www', 'public_html'].find(name => folder.has(`${name}/index.php`));
  const root = written !== null && isCopyable(written) && !written.includes('..') ? written : (entry ?? '');
  return root === '' ? '/app' : `/app/${root}`;
}

/** Scripts and the autoloader need the sources, so they wait for them. */
function packagesFirst(folder: Folder, plan: BuildPlan): Instruction[] {
  if (plan.installCommand === null || !folder.has('composer.json')) return [];
  const present = ['composer.json', 'composer.lock', 'symfony.lock', 'auth.json'].filter(name => folder.has(name));
  const cache = { id: `${plan.cacheScope}-composer`, target: '/root/.composer/cache' };
  if (plan.hasOwnInstall) return [copy(['.'], './'), run(plan.installCommand, cache, ...plan.secrets)];
  return [
    copy(present, './'),
    run(
      'composer install --no-dev --no-interaction --prefer-dist --no-scripts --no-autoloader',
      cache,
      ...plan.secrets,
    ),
  ];
}

const hasAssets = (folder: Folder): boolean =>
  folder.has('package.json') && textAt(folder.json('package.json'), 'scripts', 'build') !== null;

function assets(folder: Folder, plan: BuildPlan): Instruction[] {
  const needed = hasAssets(folder) ? nodeAssetsOf(folder) : null;
  if (needed === null) return [];
  return [
    from('node:24-bookworm-slim', 'assets'),
    workdir('/app'),
    copy(needed.manifests, './'),
    run(needed.install, { id: `${plan.cacheScope}-npm`, target: '/root/.npm' }),
    copy(['/app'], './', { from: 'build' }),
    ...buildStep({ ...plan, buildCommand: 'npm run build' }),
  ];
}

function builtAssets(folder: Folder): Instruction[] {
  const root = documentRoot(folder);
  return hasAssets(folder) ? [copy([root], root, { from: 'assets', owner: 'www-data:www-data' })] : [];
}

/** Those asked for by name, and those nearly everything needs. */
function extensionsOf(folder: Folder): string[] {
  const asked = Object.keys(requirementsOf(folder)).flatMap(name => /^ext-([a-z0-9_]{2,30})$/.exec(name)?.[1] ?? []);
  return [...new Set([...usual, ...asked.filter(name => !builtIn.has(name))])].sort();
}

const usual = ['bcmath', 'gd', 'intl', 'opcache', 'pcntl', 'pdo_mysql', 'pdo_pgsql', 'redis', 'zip'];

const builtIn: ReadonlySet<string> = new Set([
  ...['ctype', 'curl', 'date', 'dom', 'fileinfo', 'filter', 'hash', 'iconv', 'json', 'libxml', 'mbstring', 'openssl'],
  ...['pcre', 'pdo', 'phar', 'posix', 'reflection', 'session', 'simplexml', 'sodium', 'spl', 'standard', 'tokenizer'],
  ...['xml', 'xmlreader', 'xmlwriter', 'zlib'],
]);
