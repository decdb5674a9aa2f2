import type { Duplex } from 'node:stream';
import type { Command } from '../../src/commands/command.ts';
import {
  DialFailure,
  type FailureReason,
  type Host,
  type Input,
  RemoteFailure,
  type RunOptions,
  type RunResult,
  type StreamOptions,
  type StreamResult,
} from '../../src/remote/host.ts';

/** What was said to it. Operators stand among the words as objects, which no word can be. */
export interface Said {
  parts: Command['parts'];
  /** What a shell would read. */
  line: string;
  stdin: string;
  /** What the program was allowed. */
  timeoutMs: number | undefined;
}

export interface Answer {
  stdout?: string | Uint8Array;
  stderr?: string;
  /** 0 unless told otherwise. */
  exitCode?: number;
  /** Instead of an exit code: how it fails. */
  fails?: FailureReason;
}

/**
 * A machine that writes down every command and does none. What it answers is decided by the first rule that fits: part of the line or
 * an expression; without one it answers nothing, with 0.
 */
export class RecordingHost implements Host {
  readonly said: Said[] = [];
  readonly #rules: [string | RegExp, Answer | ((said: Said) => Answer)][] = [];

  readonly #ports = new Map<number, () => Promise<Duplex>>();
  readonly #programs: [string, () => Promise<Duplex>][] = [];

  /** Who answers on a port of its loopback. */
  onDial(port: number, answer: () => Promise<Duplex>): this {
    this.#ports.set(port, answer);
    return this;
  }

  /** Who speaks for a program: the first whose part of the line fits. */
  onConverse(line: string, answer: () => Promise<Duplex>): this {
    this.#programs.push([line, answer]);
    return this;
  }

  on(line: string | RegExp, answer: Answer | ((said: Said) => Answer)): this {
    this.#rules.push([line, answer]);
    return this;
  }

  /** The lines since the last time. */
  takeLines(): string[] {
    return this.said.splice(0).map(({ line }) => line);
  }

  async run(command: Command, options: RunOptions = {}): Promise<RunResult> {
    const chunks: Buffer[] = [];
    const onOutput: StreamOptions['onOutput'] = (chunk, from) => {
      if (from === 'stdout') chunks.push(chunk);
    };
    const { stderrTail } = await this.stream(command, { ...options, onOutput });
    return { stdout: Buffer.concat(chunks), stderrTail };
  }

  async stream(
    command: Command,
    { stdin = '', signal, timeoutMs, onOutput }: StreamOptions = {},
  ): Promise<StreamResult> {
    const { program } = command;
    if (signal?.aborted) throw new RemoteFailure(program, null, '', 'ABORTED', signal.reason);
    const said = { parts: command.parts, line: command.toString(), stdin: await textOf(stdin), timeoutMs };
    this.said.push(said);
    const { stdout = '', stderr = '', exitCode = 0, fails } = this.#answer(said);
    if (stdout.length > 0) await onOutput?.(Buffer.from(stdout), 'stdout');
    if (stderr.length > 0) await onOutput?.(Buffer.from(stderr), 'stderr');
    if (fails !== undefined) throw new RemoteFailure(program, null, stderr, fails);
    if (exitCode !== 0) throw new RemoteFailure(program, exitCode, stderr, 'EXIT');
    return { stderrTail: stderr };
  }

  async dial(port: number): Promise<Duplex> {
    const answer = this.#ports.get(port);
    if (answer === undefined) throw new DialFailure(port, 'REFUSED');
    return answer();
  }

  async converse(command: Command): Promise<Duplex> {
    const line = command.toString();
    this.said.push({ parts: command.parts, line, stdin: '', timeoutMs: undefined });
    const [, answer] = this.#programs.find(([rule]) => line.includes(rule)) ?? [];
    if (answer === undefined) throw new RemoteFailure(command.program, null, '', 'NOT_STARTED');
    return answer();
  }

  #answer(said: Said): Answer {
    const [, answer] =
      this.#rules.find(([rule]) => (typeof rule === 'string' ? said.line.includes(rule) : rule.test(said.line))) ?? [];
    return typeof answer === 'function' ? answer(said) : (answer ?? {});
  }
}

async function textOf(input: Input): Promise<string> {
  if (typeof input === 'string') return input;
  if (input instanceof Uint8Array) return Buffer.from(input).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
