import type { Command } from '../commands/command.ts';

export interface RunOptions {
  /** Variables of the program, besides the few it needs to start at all. */
  env?: Readonly<Record<string, string>>;
  stdin?: string | Uint8Array;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** More output than this fails the command. */
  maxOutputBytes?: number;
}

export interface RunResult {
  stdout: Buffer;
  stderrTail: string;
}

/** A machine we can ask to do things. */
export interface Host {
  run(command: Command, options?: RunOptions): Promise<RunResult>;
}

/** A command that ended badly. Its words may be shown; its output only to whoever owns the machine. */
export class RemoteFailure extends Error {
  constructor(
    readonly program: string,
    readonly exitCode: number | null,
    readonly stderrTail: string,
    readonly reason: 'EXIT' | 'TIMEOUT' | 'ABORTED' | 'TOO_MUCH_OUTPUT' | 'NOT_STARTED' | 'LOST',
    cause?: unknown,
  ) {
    super(`${program} ended badly (${reason}${exitCode === null ? '' : ` ${exitCode}`})`, { cause });
  }
}
