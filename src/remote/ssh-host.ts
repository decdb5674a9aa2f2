import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Client, ClientChannel } from 'ssh2';
import { boundedCall, endCalls } from '../commands/call.commands.ts';
import type { Command } from '../commands/command.ts';
import { ChannelSlots } from './channel-slots.ts';
import { collect } from './collect.ts';
import { converse, type Program, timeoutOf } from './conversation.ts';
import { Dialogue } from './dialogue.ts';
import {
  type Host,
  RemoteFailure,
  type RunOptions,
  type RunResult,
  type StreamOptions,
  type StreamResult,
} from './host.ts';
import type { HostKey } from './host-key.ts';
import { connectClient } from './ssh-connect.ts';
import { dialProgram, programOf } from './ssh-program.ts';
import type { SshTarget } from './ssh-target.ts';

export { HOST_KEY_TYPES, type SshTarget } from './ssh-target.ts';

/** sshd allows ten sessions on a connection unless told otherwise; two are left for ending what runs in the others. */
const CHANNELS = 8;
const OPEN_TRIES = 250;
const OPEN_PAUSE_MS = 20;
const FAREWELL_MS = 200;
/** The machine itself ends a command so much later than we do: only when we could not. */
const GRACE_MS = 5000;
const ENDING_MS = 10_000;
/** Who talks with a program knows when to leave it; if nobody is left to do so the machine ends it by then. */
const LONGEST_DIALOGUE_SECONDS = 24 * 3600;

/** An open connection to a machine: many commands at once over one connection, which notices within 15 s when it is cut. */
export class SshHost implements Host {
  readonly #slots = new ChannelSlots(CHANNELS);
  readonly #calls = new Set<string>();
  readonly #closed: Promise<void>;
  #isOpen = true;

  private constructor(
    private readonly client: Client,
    readonly hostKey: HostKey,
  ) {
    client.setMaxListeners(0);
    this.#closed = new Promise(resolve => {
      client.once('close', () => {
        this.#isOpen = false;
        resolve();
      });
    });
  }

  /** Refuses a machine whose key is not trusted before any credential is sent. */
  static async connect(target: SshTarget, signal?: AbortSignal): Promise<SshHost> {
    const { client, hostKey } = await connectClient(target, signal);
    return new SshHost(client, hostKey);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Settles when the connection is gone, for whatever reason. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  /** What was running when the connection was lost, and may be running still. */
  get unfinished(): readonly string[] {
    return [...this.#calls];
  }

  run(command: Command, options: RunOptions = {}): Promise<RunResult> {
    return collect((said, how) => this.stream(said, how), command, options);
  }

  async stream(command: Command, options: StreamOptions = {}): Promise<StreamResult> {
    if (options.env !== undefined) throw new TypeError('variables of a far command could be read by everybody there');
    const { call, leave } = await this.#enter(command, options.signal);
    try {
      const seconds = Math.ceil((timeoutOf(options) + GRACE_MS) / 1000);
      return await converse(await this.#start(command, seconds, call), options);
    } finally {
      leave();
    }
  }

  async dial(port: number): Promise<Duplex> {
    return new Dialogue(await dialProgram(this.client, port, () => this.#isOpen));
  }

  async converse(command: Command): Promise<Duplex> {
    const { call, leave } = await this.#enter(command);
    try {
      const program = await this.#start(command, LONGEST_DIALOGUE_SECONDS, call);
      return new Dialogue(program).once('close', leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Ends calls of this connection or of one before it. */
  async endCalls(calls: readonly string[]): Promise<void> {
    const command = endCalls(calls);
    const channel = await this.#open(command.program, command);
    const program = programOf(this.client, command.program, channel, async () => void channel.close());
    await converse(program, { timeoutMs: ENDING_MS });
  }

  close(): void {
    this.#isOpen = false;
    this.client.end();
    // Who does not answer a farewell is not waited for.
    const timer = setTimeout(() => this.client.destroy(), FAREWELL_MS).unref();
    this.#closed.then(() => clearTimeout(timer)).catch(() => undefined);
  }

  /** Waits for a place, and notes that something runs until `leave` says that it does not. */
  async #enter({ program }: Command, signal?: AbortSignal): Promise<{ call: string; leave: () => void }> {
    const give = await this.#slots.take(signal).catch(cause => {
      throw new RemoteFailure(program, null, '', 'ABORTED', cause);
    });
    const call = randomUUID();
    this.#calls.add(call);
    const leave = () => {
      if (this.#isOpen) this.#calls.delete(call);
      give();
    };
    return { call, leave };
  }

  async #start(command: Command, seconds: number, call: string): Promise<Program> {
    const channel = await this.#open(command.program, boundedCall(call, command, seconds));
    return programOf(this.client, command.program, channel, open => this.#end(open, call));
  }

  /** Closing a channel stops nothing at the other end, and sshd passes no signals on where it runs as root. */
  async #end(channel: ClientChannel, call: string): Promise<void> {
    channel.resume();
    channel.stderr.resume();
    try {
      if (this.#isOpen) await this.endCalls([call]);
    } catch (error) {
      // Then the machine ends it, when its time is over; and whoever opens the next connection tries again.
      if (!(error instanceof RemoteFailure)) throw error;
    } finally {
      channel.close();
    }
  }

  /** sshd may have no session left for a moment, while it clears away those that were closed. */
  async #open(name: string, command: Command): Promise<ClientChannel> {
    const exec = promisify<string, ClientChannel>(this.client.exec.bind(this.client));
    for (let tries = 1; ; tries += 1) {
      try {
        if (!this.#isOpen) throw new Error('The connection is closed');
        return await exec(command.toString());
      } catch (error) {
        if (!this.#isOpen) throw new RemoteFailure(name, null, '', 'LOST', error);
        if (tries === OPEN_TRIES) throw new RemoteFailure(name, null, '', 'NOT_STARTED', error);
        await pause(OPEN_PAUSE_MS);
      }
    }
  }
}
