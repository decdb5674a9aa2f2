import { fallbackVersion, firstVersion, majorMinor, versionInFile, versionOfTool } from '../../declared/versions.ts';
import { bestOf, type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { textAt } from '../../repository/plain-values.ts';
import { noFacts, type Stack, type StackFacts } from '../../stack.ts';
import { composerOf, requirementsOf } from './composer-manifest.ts';
import { currentPhp, phpDockerfile } from './php.dockerfile.ts';

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

  describe: describePhp,
  dockerfile: phpDockerfile,
};

const sign = (folder: Folder, file: string, confidence: number): Found<string> =>
  found('php', folder.where(file), `${file} belongs to a PHP application`, confidence);

function describePhp(folder: Folder): StackFacts {
  const frameworks = frameworkOf(folder);
  const manifest = folder.where('composer.json');
  const isLaravel = bestOf(frameworks) === 'laravel';
  const composed = {
    packageManager: [found('composer', manifest, 'composer.json is its manifest', 0.98)],
    installCommand: [found(install, manifest, 'without what only development needs', 0.95)],
  };
  return {
    ...noFacts,
    ...(folder.has('composer.json') ? composed : {}),
    languageVersion: phpVersionOf(folder),
    framework: frameworks,
    startCommand: [
      found('frankenphp run --config /etc/frankenphp/Caddyfile', null, 'FrankenPHP serves by itself', 0.85),
    ],
    releaseCommand: isLaravel
      ? [found('php artisan migrate --force', folder.where('artisan'), 'Laravel migrates', 0.9)]
      : [],
    isStatic: [found(false, null, 'PHP answers every request by a program', 0.95)],
    port: [found(8080, null, 'the port our PHP image listens on', 0.8)],
  };
}

const install = 'composer install --no-dev --no-interaction --prefer-dist --optimize-autoloader';

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

function phpVersionOf(folder: Folder): Candidates<string> {
  const range = textAt(requirementsOf(folder), 'php');
  const platform = textAt(composerOf(folder), 'config', 'platform', 'php');
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
