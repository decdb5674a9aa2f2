import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import ssh2, { type AuthContext, type Connection, type Server } from 'ssh2';
import { hostKeyOf } from '../../src/remote/host-key.ts';
import { eventually } from './eventually.ts';
import { type KeyType, makePrivateKey } from './ssh-keys.ts';

export interface MachineOptions {
  /** What it lets in by; none lets in every key. */
  password?: string;
  /** Asks for the password by a prompt, as PAM does, and not otherwise. */
  isPrompting?: boolean;
  hostKeyTypes?: KeyType[];
}

/**
 * A machine that speaks real SSH inside the test, so that no account of this one is needed. It writes down who tried to sign
 * in and what was said to it, and runs that by a real shell, with programs of its own in front.
 */
export class SshMachine {
  readonly attempts: string[] = [];
  readonly commands: string[] = [];
  readonly folder = mkdtempSync(join(tmpdir(), 'slipway-machine-'));
  /** Lets nobody in, whatever they show. */
  isClosed = false;
  /** Where its Docker answers, if it has one: a port of this machine. */
  dockerPort: number | undefined;
  /** Who really answers on a port of its loopback: a port of this machine. */
  portBehind: (port: number) => number = port => port;
  /** What its shell says before it does anything. */
  greeting = '';
  readonly #open = new Set<Connection>();
  #server: Server;
  #keys: string[];

  private constructor(private readonly options: MachineOptions) {
    this.#keys = makeKeys(options);
    this.#server = this.#serve();
  }

  static async start(options: MachineOptions = {}): Promise<SshMachine> {
    const machine = new SshMachine(options);
    await machine.#listen(0);
    return machine;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Of its keys, in the order of their types. */
  get fingerprints(): string[] {
    return this.#keys.map(fingerprintOf);
  }

  get fingerprint(): string {
    return this.fingerprints[0] ?? '';
  }

  /** A program that stands in front of the machine's own, as a script of a shell. */
  program(name: string, script: string): void {
    writeFileSync(join(this.folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(this.folder, name), 0o755);
  }

  /** Waits until nobody is connected any more. */
  async empty(): Promise<void> {
    await eventually(() => this.#open.size === 0);
  }

  /** Every line is lost, what runs goes on, and what was said before is forgotten. Whoever was cut off may be back at once. */
  async cut(): Promise<void> {
    const cut = [...this.#open];
    this.commands.length = 0;
    for (const client of cut) client.end();
    await eventually(() => cut.every(client => !this.#open.has(client)));
  }

  /** Waits until something like this was said to it. */
  async said(pattern: RegExp): Promise<void> {
    await eventually(() => this.commands.some(command => pattern.test(command)));
  }

  get keys(): readonly string[] {
    return this.#keys;
  }

  /** The same place, another machine, or one that was there before. */
  async changeHostKey(keys: readonly string[] = makeKeys(this.options)): Promise<void> {
    const { port } = this;
    await this.#close();
    this.#keys = [...keys];
    this.#server = this.#serve();
    await this.#listen(port);
  }

  async stop(): Promise<void> {
    await this.#close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #serve(): Server {
    return new ssh2.Server({ hostKeys: this.#keys }, client => {
      this.#open.add(client);
      client.on('error', () => undefined);
      client.on('close', () => this.#open.delete(client));
      client.on('authentication', context => this.#admit(context));
      client.on('tcpip', (accept, reject, { destPort }) => {
        const there = connect(this.portBehind(destPort), '127.0.0.1');
        there.once('error', () => reject?.());
        there.once('connect', () => talk(accept(), there));
      });
      client.on('session', accept => {
        accept().on('exec', (acceptExec, _, { command }) => {
          this.commands.push(command);
          const channel = acceptExec();
          if (this.dockerPort !== undefined && command.includes('dial-stdio')) {
            talk(channel, connect(this.dockerPort, '127.0.0.1'));
            return;
          }
          const env = { PATH: `${this.folder}:${process.env.PATH}`, HOME: this.folder };
          channel.write(this.greeting);
          const shell = execFile('sh', ['-c', command], { env }, error => {
            channel.exit(typeof error?.code === 'number' ? error.code : 0);
            channel.end();
          });
          shell.stdin?.end();
          shell.stdout?.on('data', piece => channel.write(piece));
          shell.stderr?.on('data', piece => channel.stderr.write(piece));
        });
      });
    });
  }

  #admit(context: AuthContext): void {
    const { password, isPrompting } = this.options;
    if (context.method !== 'none') this.attempts.push(context.method);
    const settle = (isGood: boolean) => (isGood ? context.accept() : context.reject());
    if (context.method === 'publickey' && password === undefined) settle(!this.isClosed);
    else if (context.method === 'password' && password !== undefined && !isPrompting)
      settle(context.password === password);
    else if (context.method === 'keyboard-interactive' && isPrompting)
      context.prompt([{ prompt: 'Password: ', echo: false }], ([answer]) => settle(answer === password));
    else context.reject([password === undefined ? 'publickey' : isPrompting ? 'keyboard-interactive' : 'password']);
  }

  #listen(port: number): Promise<void> {
    return new Promise(resolve => this.#server.listen(port, '127.0.0.1', resolve));
  }

  async #close(): Promise<void> {
    for (const client of this.#open) client.end();
    await new Promise<void>(resolve => this.#server.close(() => resolve()));
  }
}

/** What one side says the other hears, until one of them leaves. */
function talk(one: Duplex, other: Duplex): void {
  for (const side of [one, other]) side.on('error', () => undefined);
  one.pipe(other).pipe(one);
  one.once('close', () => other.destroy());
  other.once('close', () => one.end());
}

const makeKeys = ({ hostKeyTypes = ['ed25519'] }: MachineOptions): string[] =>
  hostKeyTypes.map(type => makePrivateKey(type));

function fingerprintOf(privateKey: string): string {
  const key = [ssh2.utils.parseKey(privateKey)].flat()[0];
  if (key === undefined || key instanceof Error) throw new Error('the host key cannot be read');
  return hostKeyOf(key.getPublicSSH()).fingerprint;
}
