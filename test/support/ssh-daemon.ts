import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/sbin/sshd'].find(existsSync);

/** The machine's own sshd on a port of the loopback, with a configuration, a host key and one authorised key of its own. */
export class SshDaemon {
  static readonly isInstalled = SSHD !== undefined && hasProgram('ssh') && hasProgram('ssh-keygen');
  readonly folder = mkdtempSync(join(tmpdir(), 'slipway-sshd-'));
  readonly user = userInfo().username;
  #port = 0;
  #child: ChildProcess | undefined;
  #log = '';

  private constructor() {
    makeKey(join(this.folder, 'host'));
    makeKey(join(this.folder, 'ann'));
  }

  static async start(): Promise<SshDaemon> {
    const daemon = new SshDaemon();
    daemon.#port = await freePort();
    await daemon.#listen();
    return daemon;
  }

  get port(): number {
    return this.#port;
  }

  /** The private key it lets in. */
  get key(): string {
    return readFileSync(join(this.folder, 'ann'), 'utf8');
  }

  /** Of its host key, as ssh-keygen shows it. */
  get fingerprint(): string {
    const text = execFileSync('ssh-keygen', ['-l', '-f', join(this.folder, 'host.pub')]).toString();
    return /SHA256:\S+/.exec(text)?.[0] ?? '';
  }

  /** What it has written down since it was last started. */
  get log(): string {
    return this.#log;
  }

  /** Lets in whoever has the private half. */
  authorize(publicKey: string): void {
    appendFileSync(join(this.folder, 'ann.pub'), `${publicKey}\n`);
  }

  makeOtherKey(...words: string[]): string {
    const file = join(this.folder, `other-${words.length}`);
    if (!existsSync(file)) makeKey(file, ...words);
    return readFileSync(file, 'utf8');
  }

  /** A program that those who sign in find by its name. */
  install(name: string, script: string): void {
    mkdirSync(join(this.folder, 'bin'), { recursive: true });
    writeFileSync(join(this.folder, 'bin', name), script, { mode: 0o755 });
  }

  addressOf(path: string): string {
    return `ssh://${this.user}@localhost:${this.port}${path}`;
  }

  /** The same place, another machine: as it looks when somebody stands in between. */
  async changeHostKey(): Promise<void> {
    await this.#end();
    rmSync(join(this.folder, 'host'));
    makeKey(join(this.folder, 'host'));
    await this.#listen();
  }

  /** Nobody listens any more, until it is started again. */
  async pause(): Promise<void> {
    await this.#end();
  }

  async resume(): Promise<void> {
    await this.#listen();
  }

  async stop(): Promise<void> {
    await this.#end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #listen(): Promise<void> {
    // Where sshd keeps its less privileged half; without it root's one does not start.
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    const config = join(this.folder, 'sshd_config');
    writeFileSync(config, this.#config());
    const child = spawn(SSHD ?? '', ['-D', '-e', '-f', config]);
    this.#child = child;
    this.#log = '';
    child.stderr.on('data', chunk => {
      this.#log += String(chunk);
    });
    const listening = new Promise<void>((resolve, reject) => {
      child.stderr.on('data', chunk => String(chunk).includes('Server listening') && resolve());
      child.once('exit', code => reject(new Error(`sshd ended with ${code}`)));
    });
    await listening;
  }

  #config(): string {
    return `
      ListenAddress 127.0.0.1:${this.port}
      HostKey ${join(this.folder, 'host')}
      AuthorizedKeysFile ${join(this.folder, 'ann.pub')}
      PidFile none
      StrictModes no
      UsePAM no
      PasswordAuthentication no
      KbdInteractiveAuthentication no
      PermitRootLogin prohibit-password
      AllowUsers ${this.user}
      LogLevel VERBOSE
      SetEnv PATH=${join(this.folder, 'bin')}:/usr/local/bin:/usr/bin:/bin
    `;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  }
}

export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some(folder => existsSync(join(folder, name)));
}

function makeKey(file: string, ...words: string[]): void {
  const secret = words.length === 0 ? ['-N', ''] : words;
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', ...secret, '-C', 'ann', '-f', file]);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise(resolve => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
