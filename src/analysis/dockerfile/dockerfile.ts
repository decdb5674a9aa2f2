/**
 * The only place where a Dockerfile is written. Commands come from strangers' files and from people's settings, so each
 * one becomes exactly one instruction, whatever it holds: as it stands if it is harmless, as a JSON array otherwise.
 */
export type Instruction = string | false | null | undefined;

export interface CacheMount {
  readonly id: string;
  readonly target: string;
}

/** A file that is there while one command runs and in no layer: a shell script that exports variables. */
export interface SecretMount {
  readonly secret: string;
}

export interface CopyOptions {
  readonly from?: string;
  readonly owner?: string;
}

export function dockerfile(...instructions: readonly Instruction[]): string {
  const written = instructions.filter(line => typeof line === 'string');
  return `${written.join('\n')}\n`;
}

/** Starts a stage, set off by an empty line. Tags come from repositories: anything unusual is the caller's mistake. */
export function from(image: string, stage?: string): Instruction {
  if (!/^[a-z0-9][\w./:-]*$/.test(image)) throw new TypeError(`not an image: ${image}`);
  return stage ? `\nFROM ${image} AS ${stage}` : `\nFROM ${image}`;
}

export const workdir = (path: string): Instruction => `WORKDIR ${safePath(path)}`;
export const user = (name: string): Instruction => `USER ${safePath(name)}`;
export const expose = (port: number): Instruction => `EXPOSE ${Math.trunc(port)}`;

export function env(values: Readonly<Record<string, string | number | null>>): Instruction {
  const words = Object.entries(values).flatMap(([key, value]) =>
    value === null ? [] : [`${key}=${safeValue(value)}`],
  );
  return words.length > 0 && `ENV ${words.join(' ')}`;
}

export function copy(
  sources: readonly string[],
  target: string,
  { from: stage, owner }: CopyOptions = {},
): Instruction {
  if (sources.length === 0) return null;
  const flags = [stage && `--from=${stage}`, owner && `--chown=${owner}`].filter(Boolean);
  return ['COPY', ...flags, ...sources.map(safePath), safePath(target)].join(' ');
}

export function run(command: string | null, ...mounts: readonly (CacheMount | SecretMount)[]): Instruction {
  if (command === null || command.trim() === '') return null;
  const secrets = mounts.flatMap(mount => ('secret' in mount ? [`/run/secrets/${safePath(mount.secret)}`] : []));
  const prepared = `${secrets.map(file => `if test -f ${file}; then . ${file}; fi; `).join('')}${command}`;
  const flags = mounts.map(mount => `--mount=type=${mountOf(mount)} `).join('');
  return `RUN ${flags}${isHarmless(prepared) ? prepared.trim() : json(['sh', '-c', prepared])}`;
}

function mountOf(mount: CacheMount | SecretMount): string {
  if ('secret' in mount) return `secret,id=${safePath(mount.secret)}`;
  return `cache,id=${safePath(mount.id)},target=${safePath(mount.target)}`;
}

/** A small file of our own words, line by line: a heredoc would need a newer Docker. */
export function writeLines(path: string, lines: readonly string[]): Instruction {
  if (lines.some(line => /['\\\n]/.test(line))) throw new TypeError('not a plain line');
  return ["RUN printf '%s\\n'", ...lines.map(line => `    '${line}'`), `    > ${safePath(path)}`].join(' \\\n');
}

/** Words without a shell in between: nothing in them is ever interpreted. */
export const runWords = (...words: readonly string[]): Instruction => `RUN ${json(words)}`;

export const cmd = (words: readonly string[]): Instruction => `CMD ${json(words)}`;

/** A name that means itself in COPY: no variable, no pattern, no option, no blank. */
export const isCopyable = (path: string): boolean => /^[\w.@/][\w.@+/-]*$/.test(path);

function safePath(path: string): string {
  if (!isCopyable(path) && !/^[\w.@/-]+:[\w.@/-]+$/.test(path)) throw new TypeError('not a plain path');
  return path;
}

function safeValue(value: string | number): string {
  const text = String(value);
  if (!/^[\w./:$,=+@%-]*$/.test(text)) throw new TypeError('not a plain value');
  return text;
}

/** No line break, no continuation, no heredoc, no comment, and no beginning that Docker reads as an option or an array. */
const isHarmless = (command: string): boolean => /^[\w./][\w ./@:=,+%&|$'"*(){};!~>^-]*$/.test(command.trim());

/** Go reads the same JSON; "<" is spelled out so that nobody sees a heredoc in it, and so is all that is not ASCII. */
function json(words: readonly string[]): string {
  const text = `[${words.map(word => JSON.stringify(word)).join(', ')}]`;
  return text.replace(/[<\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
