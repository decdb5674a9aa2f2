import type { VariableMention } from './variables.ts';

/** A file made to be copied and filled in. */
export const isSampleFile = (path: string): boolean =>
  /(?:^|\/)(?:\.?env[\w.-]*\.(?:example|sample|template|dist|defaults?)|\.?env\.?(?:example|sample|template)|(?:example|sample)\.env)$/.test(
    path,
  );

/** A file that somebody filled in and committed: its keys are worth knowing, its values are not ours to show. */
export const isSecretFile = (path: string): boolean => /(?:^|\/)\.env(?:\.(?:production|local))?$/.test(path);

export function dotenvLines(text: string, foundIn: string, isSample: boolean): VariableMention[] {
  const mentions: VariableMention[] = [];
  let comments: string[] = [];
  for (const line of text.split(/\r?\n/).slice(0, 1_000)) {
    const [, key, written] =
      /^\s{0,8}(?:export\s{1,4})?([A-Za-z_][A-Za-z0-9_]{0,127})\s{0,4}=(.{0,2000})$/.exec(line) ?? [];
    if (key !== undefined) {
      mentions.push(mentionOf(key, plainValue(written ?? ''), comments, foundIn, isSample));
      comments = [];
    } else {
      comments = /^\s{0,8}#/.test(line) ? [...comments.slice(-4), line.replace(/^[\s#]+/, '').trim()] : [];
    }
  }
  return mentions;
}

function mentionOf(
  key: string,
  value: string,
  comments: readonly string[],
  foundIn: string,
  isSample: boolean,
): VariableMention {
  const description = comments.join(' ').trim().slice(0, 300);
  return {
    key,
    foundIn,
    example: isSample && value !== '' ? value.slice(0, 300) : null,
    description: description === '' ? null : description,
    hasDefault: value !== '' && !isPlaceholder(value),
  };
}

/** Quotes and a comment behind the value are not part of it. */
function plainValue(written: string): string {
  const trimmed = written.trim();
  const quoted = /^(['"])(.*)\1/.exec(trimmed);
  return quoted ? (quoted[2] ?? '') : trimmed.replace(/\s#.*$/, '').trim();
}

/** Something stands there so that something else will. */
const isPlaceholder = (value: string): boolean =>
  /^(?:<.*>|\[.*\]|x{3,}|\*{3,}|\.{3}|todo|changeme|change[_-]me.*|your[_-].*|replace[_-].*|secret|password|placeholder|insert.*|example)$/i.test(
    value,
  );
