import type { VariableFinding } from '../analysis-result.ts';
import { composeFileOf, composeServices } from '../declared/container-files.ts';
import type { Folder } from '../repository/folder.ts';
import { isObject, objectAt, textAt, valueAt } from '../repository/plain-values.ts';
import { dotenvLines, isSampleFile, isSecretFile } from './dotenv.ts';
import { variablesInPrograms } from './program-variables.ts';

/** A variable as one place knows it; what several places know is put together. */
export interface VariableMention {
  readonly key: string;
  readonly foundIn: string;
  readonly example: string | null;
  readonly description: string | null;
  readonly hasDefault: boolean;
  /** What a program does without a variable is known; a sample file's value is no more than an example. */
  readonly isFromProgram?: boolean;
}

const mostVariables = 200;

export function variablesOf(folder: Folder): VariableFinding[] {
  const mentions = [...inSamples(folder), ...inAppJson(folder), ...inCompose(folder), ...variablesInPrograms(folder)];
  const byKey = new Map<string, VariableMention[]>();
  for (const mention of mentions.filter(({ key }) => !isProvided(key))) {
    byKey.set(mention.key, [...(byKey.get(mention.key) ?? []), mention]);
  }
  return [...byKey.values()].slice(0, mostVariables).map(together);
}

function together(mentions: readonly VariableMention[]): VariableFinding {
  const [first] = mentions as [VariableMention, ...VariableMention[]];
  const { key } = first;
  return {
    key,
    required: isRequired(mentions),
    example: mentions.find(({ example }) => example !== null)?.example ?? null,
    foundIn: first.foundIn,
    description: mentions.find(({ description }) => description !== null)?.description ?? null,
    isSecret: /SECRET|TOKEN|PASSW|PRIVATE|CREDENTIAL|API_?KEY|ACCESS_KEY|_KEY$|DSN$|SALT|^DATABASE_URL$/.test(key),
    isBuildTime:
      /^(?:NEXT_PUBLIC_|NUXT_PUBLIC_|VITE_|PUBLIC_|REACT_APP_|VUE_APP_|GATSBY_|EXPO_PUBLIC_|REDWOOD_ENV_|SANITY_STUDIO_)/.test(
        key,
      ),
  };
}

function isRequired(mentions: readonly VariableMention[]): boolean {
  const programs = mentions.filter(({ isFromProgram }) => isFromProgram);
  const telling = programs.length > 0 ? programs : mentions;
  return telling.every(({ hasDefault }) => !hasDefault);
}

/** Set by the platform, the runtime or the shell: nobody has to be asked for them. */
const provided = new Set([
  ...[
    'PORT',
    'HOST',
    'HOSTNAME',
    'NODE_ENV',
    'CI',
    'PATH',
    'HOME',
    'PWD',
    'USER',
    'SHELL',
    'LANG',
    'TZ',
    'TERM',
    'DEBUG',
  ],
  ...[
    'RAILS_ENV',
    'RACK_ENV',
    'MIX_ENV',
    'APP_ENV',
    'PYTHONPATH',
    'PYTHONUNBUFFERED',
    'JAVA_OPTS',
    'DEV',
    'PROD',
    'MODE',
    'SSR',
    'BASE_URL',
  ],
  ...['DJANGO_SETTINGS_MODULE', 'GOPATH', 'TMPDIR', 'TEMP', 'EDITOR', 'NODE_OPTIONS', 'CARGO_MANIFEST_DIR', 'OUT_DIR'],
]);

const isProvided = (key: string): boolean =>
  provided.has(key) || /^(?:npm_|VERCEL|RAILWAY_|GITHUB_|CARGO_|NETLIFY|JEST_|VITEST)/.test(key);

function inSamples(folder: Folder): VariableMention[] {
  const files = folder.files.filter(name => isSampleFile(name) || isSecretFile(name));
  return files.flatMap(name => dotenvLines(folder.text(name) ?? '', folder.where(name), isSampleFile(name)));
}

/** Heroku's description of an application. */
function inAppJson(folder: Folder): VariableMention[] {
  if (!folder.has('app.json')) return [];
  return Object.entries(objectAt(folder.json('app.json'), 'env')).flatMap(([key, wanted]) => {
    if (!isKey(key)) return [];
    const example = typeof wanted === 'string' ? wanted : textAt(wanted, 'value');
    const isOptional = valueAt(wanted, 'required') === false || valueAt(wanted, 'generator') !== undefined;
    return [
      {
        key,
        foundIn: folder.where('app.json'),
        example,
        description: textAt(wanted, 'description'),
        hasDefault: isOptional || example !== null,
      },
    ];
  });
}

export const isKey = (key: string): boolean => /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(key);

/** What a compose file wants from outside, "${KEY:-default}", and no more: the rest it sets itself. */
function inCompose(folder: Folder): VariableMention[] {
  const file = composeFileOf(folder);
  if (file === null) return [];
  const own = composeServices(folder)
    .filter(({ context }) => context !== null)
    .flatMap(({ environment }) => environmentKeys(environment));
  const asked = [...(folder.text(file) ?? '').matchAll(/\$\{([A-Za-z_]\w{0,127})(:?[-?][^}\n]{0,200})?\}/g)].map(
    ([, key, rest]) => ({ key: key as string, rest }),
  );
  return [
    ...asked.map(({ key, rest }) =>
      mention(key, folder.where(file), rest?.replace(/^:?-/, '') ?? null, /^:?-/.test(rest ?? '')),
    ),
    ...own.filter(isKey).map(key => mention(key, folder.where(file), null, true)),
  ];
}

function environmentKeys(environment: unknown): string[] {
  if (Array.isArray(environment)) return environment.map(line => String(line).split('=')[0] ?? '');
  return isObject(environment) ? Object.keys(environment) : [];
}

const mention = (key: string, foundIn: string, example: string | null, hasDefault: boolean): VariableMention => ({
  key,
  foundIn,
  example: hasDefault && example !== '' ? example : null,
  description: null,
  hasDefault,
});
