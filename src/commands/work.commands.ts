import { Command } from './command.ts';
import { CANCEL, FOLLOW, KEEPER, REMOVE, RENEW, START, STATUS, SWEEP } from './work.scripts.ts';

/** Work that outlives the connection it was asked for by. Durations are whole seconds, as a shell counts. */
export interface WorkSpec {
  /** A UUID of ours: the name of the folder on the server. */
  id: string;
  command: Command;
  /** How much it reads; less than that did not arrive whole and is not started. */
  inputBytes: number;
  /** In front of its input come files for it alone, as `privateFiles` writes them; they lie in `$SLIPWAY_FILES` while it runs. */
  hasFiles: boolean;
  /** It is ended after so long, whatever happens here. */
  limitSeconds: number;
  /** It is ended when nobody has asked for it for so long; 0 for never. */
  leaseSeconds: number;
  /** It is ended when it has said more than this. */
  outputBytes: number;
  /** One stream, in the order it was written, instead of two. */
  isMerged: boolean;
}

export interface WorkOffset {
  stdout: number;
  stderr: number;
}

/** How the scripts end when there is something to tell. */
export const WORK_EXITS = { notWhole: 65, unknown: 66, running: 69, cannotStart: 70, notOurs: 73, more: 75 } as const;

/** Who to be on the server: `['sudo', '-n']` for work of root. All that is asked about it must come from the same. */
export type Prefix = readonly string[];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function say(prefix: Prefix, script: string, id: string, ...words: readonly string[]): Command {
  if (!UUID.test(id)) throw new TypeError(`The id of work must be a UUID in lower case, not ${JSON.stringify(id)}`);
  return Command.of(prefix, 'sh', '-c', script, 'slipway', id, ...words);
}

/** Once for each id, however often it is said. Its standard input becomes that of the work. */
export const startWork = (spec: WorkSpec, prefix: Prefix = []) =>
  say(
    prefix,
    START,
    spec.id,
    ...[KEEPER, String(spec.inputBytes), spec.hasFiles ? 'private' : 'none'],
    ...[spec.limitSeconds, spec.leaseSeconds, spec.outputBytes].map(String),
    ...[spec.isMerged ? 'merged' : 'apart', 'sh', '-c', spec.command.toString()],
  );

const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** Files as the start of work takes them: a line for each, and an empty one behind. */
export function privateFiles(files: Readonly<Record<string, string>>): string {
  const lines = Object.entries(files).map(([name, text]) => {
    if (!FILE_NAME.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name for a file of work`);
    return `${name} ${Buffer.from(text).toString('base64')}\n`;
  });
  return `${lines.join('')}\n`;
}

/** Says what the work said from there on; ends with 0 when that was all, with `more` when the seconds are over. */
export const followWork = (id: string, from: WorkOffset, seconds: number, prefix: Prefix = []) =>
  say(prefix, FOLLOW, id, ...[from.stdout, from.stderr, seconds].map(String));

/** `RUNNING`, `VANISHED`, or `ENDED`, the exit code and why. */
export const statusOfWork = (id: string, prefix: Prefix = []) => say(prefix, STATUS, id);

export const renewWork = (id: string, prefix: Prefix = []) => say(prefix, RENEW, id);

/** Returns when nothing of it runs. What was never started cannot be started any more. */
export const cancelWork = (id: string, prefix: Prefix = []) => say(prefix, CANCEL, id);

export const removeWork = (id: string, prefix: Prefix = []) => say(prefix, REMOVE, id);

/** Removes what ended and was not touched for so long; says how many. */
export const sweepWork = (minutes: number, prefix: Prefix = []) =>
  Command.of(prefix, 'sh', '-c', SWEEP, 'slipway', '-', String(minutes));
