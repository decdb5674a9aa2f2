import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '../../src/commands/command.ts';
import { RemoteWork } from '../../src/remote/remote-work.ts';
import { runReattaching } from '../../src/remote/run-reattaching.ts';
import type { SshHost } from '../../src/remote/ssh-host.ts';
import { SshPool } from '../../src/remote/ssh-pool.ts';
import { eventually } from './eventually.ts';
import { processesMarked } from './processes.ts';
import type { SshServer } from './ssh-server.ts';

export const FAULTS = {
  cut: (server: SshServer) => server.cutConnections(),
  'black hole': (server: SshServer) => server.stallConnections(),
  'sshd killed': (server: SshServer) => server.killSessions(),
} as const;

export type Fault = keyof typeof FAULTS;

/** The pool's one way to a test server. */
export const useOf = (pool: SshPool, server: SshServer) => {
  const target = { ...server.target, trusts: () => true };
  return <Result>(work: (host: SshHost) => Promise<Result>): Promise<Result> =>
    pool.use('server', async () => target, work);
};

export interface Reattached {
  fault: Fault;
  /** From the fault until the next connection was asked for. */
  noticedMs: number;
  lines: number;
  missing: number;
  repeated: number;
  /** How often the work was begun. */
  runs: number;
}

/** The line is lost in the middle of work that goes on: its output is put together over two connections. */
export async function reattachAfter(server: SshServer, fault: Fault, lines: number): Promise<Reattached> {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-lost-'));
  const pool = new SshPool();
  const use = useOf(pool, server);
  const id = randomUUID();
  let faultAt = 0;
  let noticedAt = 0;
  let text = '';
  const script = 'echo run >>"$1/runs"; n=0; while [ $n -lt $2 ]; do n=$((n + 1)); echo line $n; sleep 0.02; done';
  const command = Command.of('sh', '-c', script, 'sh', folder, String(lines));
  try {
    await runReattaching(
      work => {
        if (faultAt > 0) noticedAt ||= performance.now();
        return use(work);
      },
      { id, command, timeoutMs: 120_000 },
      {
        onOutput: chunk => {
          text += chunk.toString();
          if (faultAt > 0 || !text.includes('line 5\n')) return;
          faultAt = performance.now();
          FAULTS[fault](server);
        },
      },
    );
    await use(host => new RemoteWork(host).remove(id));
    const seen = text.trimEnd().split('\n');
    const distinct = new Set(seen);
    const missing = Array.from({ length: lines }, (_, index) => `line ${index + 1}`).filter(
      line => !distinct.has(line),
    );
    const runs = readFileSync(join(folder, 'runs'), 'utf8').split('run').length - 1;
    const noticedMs = Math.round(noticedAt - faultAt);
    return { fault, noticedMs, lines, missing: missing.length, repeated: seen.length - distinct.size, runs };
  } finally {
    pool.closeAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Abandoned {
  fault: Fault;
  /** From the fault until nothing of the work ran. */
  goneMs: number;
  left: number;
  reason: string;
}

/** The line is lost, and whoever followed never comes back: as when the service dies with it. */
export async function abandonAfter(server: SshServer, fault: Fault, leaseMs?: number): Promise<Abandoned> {
  const pool = new SshPool();
  const use = useOf(pool, server);
  const id = randomUUID();
  const order = { id, command: Command.of('sh', '-c', 'echo up; sleep 900 & sleep 900'), timeoutMs: 900_000 };
  const lease = leaseMs === undefined ? {} : { leaseMs };
  let faultAt = 0;
  const following = use(async host => {
    const work = new RemoteWork(host);
    await work.start({ ...order, ...lease });
    const onOutput = () => {
      faultAt = performance.now();
      FAULTS[fault](server);
    };
    await work.follow(id, { offset: { stdout: 0, stderr: 0 }, onOutput, ...lease });
  });
  // How it fails is told elsewhere; here it counts what is left.
  following.catch(() => undefined);
  try {
    await eventually(() => faultAt > 0);
    await eventually(() => processesMarked('SLIPWAY_WORK', id).length === 0, 70_000).catch(() => undefined);
    const goneMs = Math.round(performance.now() - faultAt);
    const left = processesMarked('SLIPWAY_WORK', id).length;
    await following.catch(() => undefined);
    const status = await use(host => eventually(() => endOf(new RemoteWork(host), id)));
    await use(host => new RemoteWork(host).remove(id));
    return { fault, goneMs, left, reason: status.reason };
  } finally {
    pool.closeAll();
  }
}

async function endOf(work: RemoteWork, id: string) {
  const status = await work.status(id);
  return status !== 'RUNNING' && status !== null && status;
}
