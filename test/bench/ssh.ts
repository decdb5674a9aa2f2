import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '../../src/commands/command.ts';
import { SshHost } from '../../src/remote/ssh-host.ts';
import { hasSshd, SshServer } from '../support/ssh-server.ts';
import { type Figure, spell } from './report.ts';
import { median } from './support/statistics.ts';

export const sshNotes = [
  "SSH: against OpenSSH's own client on the same work, the same sshd of this machine, the same key, the same key exchange and cipher, in turns.",
  '"Connect and true" is from nothing to the exit code, for OpenSSH with the start of its process, for us inside one that runs, as the service does.',
  '"Second command" is `true` on a connection that is open, against all of that. "Streamed" is a file through a command of the server and our',
  'connection, against scp of the same file over a connection of its own; both read and write a file at both ends.',
  `ssh2's native cryptography: ${hasBinding() ? 'loaded' : 'NOT loaded, JavaScript is used'}. cpu-features: ${hasCpuFeatures() ? 'loaded' : 'not built'}.`,
];

export interface SshPace {
  rounds: number;
  megabytes: number;
  transfers: number;
}

export async function benchSsh({ rounds, megabytes, transfers }: SshPace): Promise<Figure[]> {
  if (!hasSshd()) return [];
  const server = await SshServer.start();
  const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-ssh-'));
  try {
    const client = await OpenSsh.prepare(server, folder);
    return [
      ...(await compareCommands(server, client, rounds)),
      ...(await compareStreams(server, client, folder, megabytes, transfers)),
    ];
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function compareCommands(server: SshServer, client: OpenSsh, rounds: number): Promise<Figure[]> {
  const target = targetOf(server);
  const open = await SshHost.connect(target);
  const times = { theirs: [] as number[], first: [] as number[], second: [] as number[] };
  // The first round is left out: it loads what is loaded once.
  for (let round = 0; round <= rounds; round += 1) {
    const theirs = await took(() => client.say('true'));
    const first = await took(async () => {
      const host = await SshHost.connect(target);
      await host.run(Command.of('true'));
      host.close();
    });
    const second = await took(() => open.run(Command.of('true')));
    if (round === 0) continue;
    times.theirs.push(theirs);
    times.first.push(first);
    times.second.push(second);
  }
  open.close();
  return [
    ratio('connect and true', times.first, times.theirs, 'ms', { atMost: 1.5 }),
    ratio('second command', times.second, times.theirs, 'ms', { atMost: 0.3 }),
  ];
}

async function compareStreams(
  server: SshServer,
  client: OpenSsh,
  folder: string,
  megabytes: number,
  transfers: number,
): Promise<Figure[]> {
  const source = join(folder, 'source');
  execFileSync('dd', ['if=/dev/urandom', `of=${source}`, 'bs=1M', `count=${megabytes}`], { stdio: 'ignore' });
  const [there, back] = [join(folder, 'there'), join(folder, 'back')];
  const host = await SshHost.connect(targetOf(server));
  const speeds = { up: [] as number[], scpUp: [] as number[], down: [] as number[], scpDown: [] as number[] };
  const speed = async (work: () => Promise<unknown>) => megabytes / ((await took(work)) / 1000);
  for (let round = 0; round <= transfers; round += 1) {
    const scpUp = await speed(() => client.copy(source, client.remote(there)));
    const up = await speed(() => upload(host, source, there));
    const scpDown = await speed(() => client.copy(client.remote(there), back));
    const down = await speed(() => download(host, there, back));
    execFileSync('cmp', [source, back]);
    if (round === 0) continue;
    speeds.up.push(up);
    speeds.scpUp.push(scpUp);
    speeds.down.push(down);
    speeds.scpDown.push(scpDown);
  }
  host.close();
  return [
    ratio(`${megabytes} MB streamed to a server`, speeds.up, speeds.scpUp, 'MB/s', { atLeast: 0.5 }),
    ratio(`${megabytes} MB streamed from a server`, speeds.down, speeds.scpDown, 'MB/s', { atLeast: 0.5 }),
  ];
}

const upload = async (host: SshHost, from: string, to: string): Promise<void> => {
  const stdin = createReadStream(from, { highWaterMark: 256 * 1024 });
  await host.stream(Command.of('dd', `of=${to}`, 'bs=256k', 'status=none'), { stdin });
};

async function download(host: SshHost, from: string, to: string): Promise<void> {
  const file = createWriteStream(to);
  await host.stream(Command.of('cat', from), {
    onOutput: chunk => (file.write(chunk) ? undefined : once(file, 'drain').then(() => undefined)),
  });
  file.end();
  await once(file, 'finish');
}

function ratio(name: string, ours: number[], theirs: number[], unit: string, target: Figure['target']): Figure {
  const [own, yardstick] = [median(ours), median(theirs)];
  const value = `${spell(own)} ${unit} against ${spell(yardstick)} ${unit}, medians of ${ours.length}`;
  return {
    part: 'ssh',
    name,
    value,
    score: own / yardstick,
    unit: ' ×',
    ...(target ? { target } : {}),
    details: { ours: own, theirs: yardstick },
  };
}

/** The machine's own client, told to use the same key and to know the server already. */
class OpenSsh {
  readonly #options: string[];
  readonly #port: string;

  private constructor(folder: string, port: number) {
    this.#port = `${port}`;
    this.#options = [
      ...['-F', '/dev/null', '-i', join(folder, 'key'), '-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes'],
      ...['-o', `UserKnownHostsFile=${join(folder, 'known')}`, '-o', 'StrictHostKeyChecking=accept-new'],
      // What we speak ourselves: left alone it takes a slower key exchange and another cipher, and we would measure those.
      ...['-o', 'KexAlgorithms=curve25519-sha256', '-o', 'Ciphers=aes128-gcm@openssh.com', '-o', 'LogLevel=ERROR'],
    ];
  }

  static async prepare(server: SshServer, folder: string): Promise<OpenSsh> {
    await writeFile(join(folder, 'key'), server.direct.privateKey, { mode: 0o600 });
    const client = new OpenSsh(folder, server.direct.port);
    await client.say('true');
    return client;
  }

  say(...words: string[]): Promise<void> {
    return succeed('ssh', [...this.#options, '-p', this.#port, '127.0.0.1', ...words]);
  }

  remote(path: string): string {
    return `127.0.0.1:${path}`;
  }

  copy(from: string, to: string): Promise<void> {
    return succeed('scp', [...this.#options, '-q', '-P', this.#port, from, to]);
  }
}

async function succeed(program: string, words: string[]): Promise<void> {
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const targetOf = (server: SshServer) => ({ ...server.direct, trusts: () => true });

function hasBinding(): boolean {
  return canLoad('ssh2/lib/protocol/crypto/build/Release/sshcrypto.node');
}

function hasCpuFeatures(): boolean {
  return canLoad('cpu-features');
}

function canLoad(name: string): boolean {
  try {
    createRequire(import.meta.url)(name);
    return true;
  } catch {
    return false;
  }
}
