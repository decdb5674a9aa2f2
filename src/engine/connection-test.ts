import { asRoot, doNothing, sayHello } from '../commands/system.commands.ts';
import type { ServerFacts } from '../entities/server.ts';
import { MessageChannel } from '../events/message-channel.ts';
import { findHostKey } from '../remote/find-host-key.ts';
import { RemoteFailure } from '../remote/host.ts';
import type { HostKey } from '../remote/host-key.ts';
import { reach } from '../remote/reach.ts';
import { SSH_HINTS, SshFailure } from '../remote/ssh-failure.ts';
import { SshHost } from '../remote/ssh-host.ts';
import {
  type ConnectionMessage,
  ConnectionStep,
  ConnectionStepStatus,
  StepFailed,
  type TestTarget,
  type Verdict,
} from './connection-message.ts';
import { judgeKey } from './judge-key.ts';
import { type Survey, survey } from './server-facts.ts';

const LOW_DISK_MB = 2048;
const COMMAND_MS = 10_000;

interface Log {
  error(context: object, message: string): void;
}

/** What a test needs besides its target. */
export interface TestMeans {
  resolve(host: string): Promise<string[]>;
  log: Log;
  /** The machine shows another key than the known one. */
  onStranger?(key: HostKey): Promise<void>;
  onSuccess?(): Promise<void>;
}

/** Goes from the name to the disk, one step after the other, and tells each with its time. Nothing of it is stored. */
export class ConnectionTest {
  readonly #leaving = new AbortController();
  readonly #messages = new MessageChannel<ConnectionMessage>(() => this.#leaving.abort());
  #seq = 0;
  #addresses: string[] = [];
  #address = '';
  #shown: HostKey | undefined;
  #host: SshHost | undefined;
  #survey: Survey | undefined;

  constructor(
    private readonly target: TestTarget,
    private readonly means: TestMeans,
  ) {}

  start(): AsyncIterable<ConnectionMessage> {
    void this.#run().finally(() => {
      this.#host?.close();
      this.#messages.close();
    });
    return this.#messages;
  }

  async #run(): Promise<void> {
    const steps: [ConnectionStep, () => Promise<Verdict>][] = [
      [ConnectionStep.RESOLVE, () => this.#resolveName()],
      [ConnectionStep.TCP, () => this.#reachPort()],
      [ConnectionStep.HOST_KEY, () => this.#seeKey()],
      [ConnectionStep.AUTH, () => this.#signIn()],
      [ConnectionStep.SHELL, () => this.#say()],
      [ConnectionStep.SUDO, () => this.#becomeRoot()],
      [ConnectionStep.DOCKER, async () => this.#findDocker()],
      [ConnectionStep.DISK, async () => this.#lookAtDisk()],
      [ConnectionStep.DONE, () => this.#finish()],
    ];
    for (const [step, take] of steps) if (!(await this.#take(step, take))) return;
  }

  async #take(step: ConnectionStep, take: () => Promise<Verdict>): Promise<boolean> {
    const startedAt = performance.now();
    const took = () => Math.round(performance.now() - startedAt);
    if (step !== ConnectionStep.DONE) this.#tell(step, { status: ConnectionStepStatus.RUNNING, message: '' }, 0);
    try {
      this.#tell(step, await take(), took());
      return true;
    } catch (error) {
      // Whoever left ended it; there is nobody to tell.
      if (this.#leaving.signal.aborted) return false;
      const failed = { status: ConnectionStepStatus.FAILED, ...this.#explain(error) };
      this.#tell(step, failed, took());
      this.#tell(ConnectionStep.DONE, { ...failed, message: `It fails at ${step}: ${failed.message}` }, 0);
      return false;
    }
  }

  #tell(step: ConnectionStep, { status, message, hint = null, facts = null }: Verdict, durationMs: number): void {
    this.#seq += 1;
    this.#messages.send({ seq: this.#seq, step, status, message, hint, durationMs, facts });
  }

  async #resolveName(): Promise<Verdict> {
    this.#addresses = await this.means.resolve(this.target.host);
    return ok(this.#addresses.slice(0, 4).join(', '));
  }

  async #reachPort(): Promise<Verdict> {
    this.#address = await reach(this.#addresses, this.target.port, this.#leaving.signal);
    return ok(`Port ${this.target.port} of ${this.#address} is open`);
  }

  /** By a connection that says nothing of us. */
  async #seeKey(): Promise<Verdict> {
    const { port, known } = this.target;
    const isWanted = ({ fingerprint }: HostKey) => known.length === 0 || known.includes(fingerprint);
    const place = { address: this.#address, port };
    this.#shown = await findHostKey(place, isWanted, this.#leaving.signal).catch(notSsh(port));
    if (!isWanted(this.#shown)) await this.means.onStranger?.(this.#shown);
    return judgeKey(this.#shown, this.target);
  }

  async #signIn(): Promise<Verdict> {
    const { username, privateKey, password } = this.target;
    if (privateKey === undefined && password === undefined)
      throw new StepFailed('No credential was given', 'Give a privateKey or a password to go on.');
    const { type, fingerprint } = this.#shown as HostKey;
    const trusted = { hostKeyTypes: [type], trusts: (key: HostKey) => key.fingerprint === fingerprint };
    const target = { ...this.target, ...trusted, address: this.#address };
    this.#host = await SshHost.connect(target, this.#leaving.signal);
    return ok(`Signed in as ${username}`);
  }

  async #say(): Promise<Verdict> {
    const options = { signal: this.#leaving.signal, timeoutMs: COMMAND_MS, maxOutputBytes: 64 * 1024 };
    const { stdout } = await this.#open().run(sayHello(), options);
    if (stdout.toString() !== 'slipway\n') {
      const hint = "Remove what prints from the shell's start files for sessions without a terminal.";
      throw new StepFailed('The shell says more than it was asked', hint);
    }
    this.#survey = await survey(this.#open(), this.#leaving.signal);
    return { ...ok(this.#facts.os), facts: this.#facts };
  }

  async #becomeRoot(): Promise<Verdict> {
    if (this.#survey?.isRoot) return ok('The user is root');
    const options = { signal: this.#leaving.signal, timeoutMs: COMMAND_MS };
    try {
      await this.#open().run(asRoot(doNothing(), false), options);
    } catch (error) {
      if (!(error instanceof RemoteFailure) || error.reason === 'LOST' || error.reason === 'ABORTED') throw error;
      const hint = 'Let the user use sudo without a password (NOPASSWD in sudoers), or use root.';
      throw new StepFailed('The user cannot use sudo without a password', hint);
    }
    return ok('The user may use sudo');
  }

  #findDocker(): Verdict {
    const { docker } = this.#facts;
    if (docker !== null) return ok(`Docker ${docker}`);
    const hint = "Slipway can install it from the distribution's packages: POST /servers/:id/docker.";
    return { status: ConnectionStepStatus.WARN, message: 'Docker is not there, or does not answer', hint };
  }

  #lookAtDisk(): Verdict {
    const { diskFreeMb } = this.#facts;
    if (diskFreeMb >= LOW_DISK_MB) return ok(`${diskFreeMb} MB free`);
    const hint = 'Builds need room: free some, or add a disk.';
    return { status: ConnectionStepStatus.WARN, message: `Only ${diskFreeMb} MB free`, hint };
  }

  async #finish(): Promise<Verdict> {
    await this.means.onSuccess?.();
    return { ...ok('The server can be used'), facts: this.#facts };
  }

  get #facts(): ServerFacts {
    if (this.#survey === undefined) throw new TypeError('the machine was not looked at');
    return this.#survey.facts;
  }

  #open(): SshHost {
    if (this.#host === undefined) throw new TypeError('no connection was opened');
    return this.#host;
  }

  #explain(error: unknown): { message: string; hint: string } {
    if (error instanceof StepFailed) return { message: error.message, hint: error.hint };
    if (error instanceof SshFailure) return { message: error.message, hint: SSH_HINTS[error.kind] };
    if (error instanceof RemoteFailure)
      return { message: error.message, hint: 'Try it by hand with ssh, and look at the log of the machine.' };
    this.means.log.error({ err: error }, 'A connection test failed');
    return { message: 'Something went wrong on our side', hint: 'The log of the service has the details.' };
  }
}

const ok = (message: string): Verdict => ({ status: ConnectionStepStatus.OK, message });

/** The port is open, but nobody there shows a key. */
const notSsh =
  (port: number) =>
  (error: unknown): never => {
    const isSilent = error instanceof SshFailure && (error.kind === 'UNREACHABLE' || error.kind === 'TIMEOUT');
    if (!isSilent) throw error;
    throw new StepFailed(
      `What listens on port ${port} does not answer as an SSH server`,
      'Check the port; a server that bans addresses after failures looks the same.',
    );
  };
