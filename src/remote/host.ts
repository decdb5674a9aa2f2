import type { Duplex } from 'node:stream';
import type { Command } from '../commands/command.ts';

/** What a program may read: all at once, or piece by piece as it reads it. */
export type Input = string | Uint8Array | AsyncIterable<Uint8Array>;

export type OutputStream = 'stdout' | 'stderr';

interface CallOptions {
  stdin?: Input;
  /** Ends the command, with all that it started, and fails with ABORTED. */
  signal?: AbortSignal;
  /** A minute unless told otherwise. A far machine ends the command by then even if the connection is gone. */
  timeoutMs?: number;
}

export interface RunOptions extends CallOptions {
  /** Variables of the program, besides the few it needs to start at all. Only here: on a far machine everybody could read them. */
  env?: Readonly<Record<string, string>>;
  /** More output than this fails the command. */
  maxOutputBytes?: number;
}

export interface RunResult {
  stdout: Buffer;
  stderrTail: string;
}

export interface StreamOptions extends CallOptions {
  env?: Readonly<Record<string, string>>;
  /**
   * Is given all that the program says, one piece at a time. While a promise of it is open nothing more is read, and the program
   * waits. If it throws, the command is ended and fails with what was thrown.
   */
  onOutput?: (chunk: Buffer, from: OutputStream) => void | Promise<void>;
}

export interface StreamResult {
  stderrTail: string;
}

/** A machine we can ask to do things. A command that does not end with 0 fails with a `RemoteFailure`. */
export interface Host {
  /** For small answers. */
  run(command: Command, options?: RunOptions): Promise<RunResult>;
  /** For any amount of input and output, in little memory. */
  stream(command: Command, options?: StreamOptions): Promise<StreamResult>;
  /** A connection to a port of the machine's own loopback. Fails with a `DialFailure` where there is none to be had. */
  dial(port: number): Promise<Duplex>;
  /**
   * Starts a program to talk with: what is written it reads, what it says is read. Destroyed, it ends the program. Where the program
   * ends badly, or the connection does, the stream fails with a `RemoteFailure`.
   */
  converse(command: Command): Promise<Duplex>;
}

export type FailureReason = 'EXIT' | 'TIMEOUT' | 'ABORTED' | 'TOO_MUCH_OUTPUT' | 'NOT_STARTED' | 'LOST';

/** A command that ended badly. Its words may be shown; its output only to whoever owns the machine. */
export class RemoteFailure extends Error {
  constructor(
    readonly program: string,
    readonly exitCode: number | null,
    readonly stderrTail: string,
    readonly reason: FailureReason,
    cause?: unknown,
  ) {
    super(`${program} ended badly (${reason}${exitCode === null ? '' : ` ${exitCode}`})`, { cause });
  }
}

export type DialReason = 'REFUSED' | 'FORBIDDEN';

/** Nothing listens on that port of the machine, or its sshd passes no connections on. */
export class DialFailure extends Error {
  constructor(
    readonly port: number,
    readonly reason: DialReason,
    cause?: unknown,
  ) {
    super(SAID[reason].replace('PORT', String(port)), { cause });
  }
}

const SAID: Readonly<Record<DialReason, string>> = {
  REFUSED: 'Nothing answers on port PORT of the machine itself',
  FORBIDDEN: 'The machine’s sshd passes no connections on; set AllowTcpForwarding to local',
};
