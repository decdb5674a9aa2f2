import type { Folder } from '../repository/folder.ts';
import type { VariableMention } from './variables.ts';

/** How programs ask for a variable. Where a fallback can follow, the second group holds its first character. */
const asking: readonly (readonly [files: RegExp, pattern: RegExp])[] = [
  [
    /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/,
    /\b(?:process\.env|import\.meta\.env|Bun\.env)(?:\.|\[['"])([A-Z][A-Z0-9_]{1,127})(?:['"]\])?\s{0,4}(\|\||\?\?)?/g,
  ],
  [/\.(?:[cm]?[jt]sx?)$/, /\bDeno\.env\.get\(\s{0,4}['"]([A-Z][A-Z0-9_]{1,127})['"]\s{0,4}\)\s{0,4}(\|\||\?\?)?/g],
  [/\.py$/, /\bos\.environ\[\s{0,4}['"]([A-Z][A-Z0-9_]{1,127})['"]()/g],
  [
    /\.py$/,
    /\b(?:os\.getenv|os\.environ\.get|env|config|env\.(?:str|int|bool|list|db|url))\(\s{0,4}['"]([A-Z][A-Z0-9_]{1,127})['"]\s{0,4}(,)?/g,
  ],
  [/\.rb$/, /\bENV(?:\.fetch\(|\[)\s{0,4}['"]([A-Z][A-Z0-9_]{1,127})['"]\s{0,4}(,|\]\s{0,4}\|\|)?/g],
  [/\.php$/, /\b(?:env|getenv)\(\s{0,4}['"]([A-Z][A-Z0-9_]{1,127})['"]\s{0,4}(,)?/g],
  [/\.php$/, /\$_(?:ENV|SERVER)\[\s{0,4}['"]([A-Z][A-Z0-9]{1,60}_[A-Z0-9_]{1,60})['"]\s{0,4}\]\s{0,4}(\?\?)?/g],
  [/\.(?:java|kt|scala|clj)$/, /\bSystem(?:\.getenv\(|\/getenv )\s{0,4}"([A-Z][A-Z0-9_]{1,127})"()/g],
  [/\.go$/, /\bos\.(?:Getenv|LookupEnv)\(\s{0,4}"([A-Z][A-Z0-9_]{1,127})"()/g],
  [/\.rs$/, /\benv::var(?:_os)?\(\s{0,4}"([A-Z][A-Z0-9_]{1,127})"\s{0,4}\)(?:\.(unwrap_or))?/g],
  [/\.exs?$/, /\bSystem\.(?:get_env|fetch_env!?)\(\s{0,4}"([A-Z][A-Z0-9_]{1,127})"\s{0,4}(,|\)\s{0,4}\|\|)?/g],
  [/\.(?:cs|fs)$/, /\bEnvironment\.GetEnvironmentVariable\(\s{0,4}"([A-Z][A-Z0-9_]{1,127})"\s{0,4}\)\s{0,4}(\?\?)?/g],
  [/(?:^|\/)application[\w-]*\.(?:properties|ya?ml)$/, /\$\{([A-Z][A-Z0-9_]{1,127})(:)?/g],
];

const mostMentions = 1_000;

export function variablesInPrograms(folder: Folder): VariableMention[] {
  const mentions: VariableMention[] = [];
  for (const [files, pattern] of asking) {
    for (const [name, text] of folder.texts(files)) {
      for (const [, key, fallback] of text.matchAll(pattern)) {
        if (mentions.length >= mostMentions) return mentions;
        mentions.push({
          key: key as string,
          foundIn: folder.where(name),
          example: null,
          description: null,
          hasDefault: Boolean(fallback),
          isFromProgram: true,
        });
      }
    }
  }
  return mentions;
}
