import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { childrenOf } from './processes.ts';
import { makeKeyPair, makePrivateKey } from './ssh-keys.ts';

const SSHD = '/usr/sbin/sshd';

export const hasSshd = (): boolean => existsSync(SSHD);

/** A real sshd of this machine on a loopback port, with keys of its own, behind a line that can be cut. */
export class SshServer {
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly folder: string,
    private readonly process: ChildProcess,
    private readonly line: Server,
    private readonly port: number,
    readonly fingerprint: string,
    private readonly privateKey: string,
  ) {}

  static makeKey(): string {
    return makePrivateKey();
  }

  /** With settings of its own besides the usual ones, a line for each. */
  static async start(...settings: readonly string[]): Promise<SshServer> {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-sshd-'));
    const pair = makeKeyPair();
    writeFileSync(join(folder, 'authorized_keys'), `${pair.public}\n`, { mode: 0o600 });
    for (const [type, file] of [
      ['ed25519', 'host_key'],
      ['ecdsa', 'other_host_key'],
    ] as const)
      execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', join(folder, file)]);
    // Where sshd runs as root it wants a folder to lock itself up in.
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    const port = await freePort();
    writeFileSync(join(folder, 'sshd_config'), [...settings, config(folder, port)].join('\n'));
    const sshd = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'sshd_config'), '-E', join(folder, 'log')], {
      stdio: 'ignore',
    });
    await reachable(port);
    const line = createServer();
    const server = new SshServer(folder, sshd, line, port, fingerprintOf(folder), pair.private);
    line.on('connection', socket => server.#carry(socket, port));
    await new Promise<void>(resolve => line.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get target() {
    const { port } = this.line.address() as { port: number };
    return { address: '127.0.0.1', port, username: userInfo().username, privateKey: this.privateKey };
  }

  /** Past the line that can be cut, for whoever measures. */
  get direct() {
    return { ...this.target, port: this.port };
  }

  cutConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** As when the network in between drops every packet: nobody is told anything. New connections pass. */
  stallConnections(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  /** The processes of sshd that serve connections, as when somebody kills them. */
  killSessions(): void {
    for (const pid of childrenOf(this.process.pid ?? 0)) process.kill(pid, 'SIGKILL');
  }

  /** How many connections were signed in. */
  async connections(): Promise<number> {
    return (await this.log()).split('Accepted publickey').length - 1;
  }

  log(): Promise<string> {
    return readFile(join(this.folder, 'log'), 'utf8');
  }

  async stop(): Promise<void> {
    this.cutConnections();
    await new Promise(resolve => this.line.close(resolve));
    this.process.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #carry(socket: Socket, port: number): void {
    const far = connect(port, '127.0.0.1');
    for (const end of [socket, far]) {
      this.#sockets.add(end);
      end.on('error', () => undefined);
      end.on('close', () => {
        this.#sockets.delete(end);
        (end === socket ? far : socket).destroy();
      });
    }
    socket.pipe(far).pipe(socket);
  }
}

const config = (folder: string, port: number): string =>
  [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host_key')}`,
    `HostKey ${join(folder, 'other_host_key')}`,
    `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
    `PidFile ${join(folder, 'pid')}`,
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin yes',
    'PasswordAuthentication yes',
    'LogLevel VERBOSE',
    'MaxStartups 100',
    'Subsystem sftp internal-sftp',
    // To bash it looks like a shell in a shell, and it leaves out the start-up files of whoever runs the tests.
    'SetEnv SHLVL=1',
  ].join('\n');

function fingerprintOf(folder: string): string {
  const wire = readFileSync(join(folder, 'host_key.pub'), 'utf8').split(' ')[1] ?? '';
  const text = execFileSync('ssh-keygen', ['-l', '-E', 'sha256', '-f', join(folder, 'host_key.pub')]).toString();
  return wire === '' ? '' : (/SHA256:\S+/.exec(text)?.[0] ?? '');
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>(resolve => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise(resolve => probe.close(resolve));
  return port;
}

/** sshd says nothing when it is ready: ask until it answers. */
async function reachable(port: number): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}
