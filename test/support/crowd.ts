import { spawn } from 'node:child_process';
import { on } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.ts';
import type { Installation } from './installation.ts';

const PROGRAM = fileURLToPath(new URL('./crowd-program.ts', import.meta.url));
const ROUNDS = 5;

interface Said {
  kind: 'connected' | 'listening' | 'heard' | 'left';
  count: number;
  refused: number;
  at: number[];
}

export interface CrowdFigures {
  connected: number;
  connectSeconds: number;
  eventP50Ms: number;
  eventP99Ms: number;
  restP95Ms: number;
  rssMegabytes: number;
  goneAfterMs: number;
}

/** F13: so many readers of one stream, one event to all of them, requests of others meanwhile, and then they all leave. */
export async function gatherCrowd(installation: Installation, count: number): Promise<CrowdFigures> {
  const { service, token } = installation;
  const port = new URL(service.url).port;
  const program = spawn(process.execPath, ['--no-warnings', PROGRAM, port, token, `${count}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = on(createInterface(program.stdout), 'line');
  const hear = async (kind: Said['kind']): Promise<Said> => {
    for (;;) {
      const { value } = await lines.next();
      const said = JSON.parse(String(value?.[0])) as Said;
      if (said.kind === kind) return said;
    }
  };
  const startedAt = Date.now();
  const rest = askOften(installation);
  const { count: connected } = await hear('connected');
  const connectSeconds = (Date.now() - startedAt) / 1000;
  const delays: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    program.stdin.write('listen\n');
    await hear('listening');
    const toldAt = Date.now();
    await installation.tell(1);
    delays.push(...(await hear('heard')).at.map(at => at - toldAt));
  }
  const rssMegabytes = (await service.metric('process_resident_memory_bytes')) / 1024 / 1024;
  const restP95Ms = percentile(await rest.stop(), 95);
  program.stdin.write('leave\n');
  const [leftAt = 0] = (await hear('left')).at;
  await eventually(async () => (await subscribersOf(installation)) === 0);
  return {
    connected,
    connectSeconds: Math.round(connectSeconds * 10) / 10,
    eventP50Ms: percentile(delays, 50),
    eventP99Ms: percentile(delays, 99),
    restP95Ms: Math.round(restP95Ms),
    rssMegabytes: Math.round(rssMegabytes),
    goneAfterMs: Date.now() - leftAt,
  };
}

async function subscribersOf({ service }: Installation): Promise<number> {
  const names = ['slipway_open_streams', 'slipway_stream_readers', 'slipway_event_watchers'];
  const counts = await Promise.all(names.map(name => service.metric(name)));
  return counts.reduce((sum, subscribers) => sum + subscribers, 0);
}

function askOften({ service, token }: Installation): { stop(): Promise<number[]> } {
  const took: number[] = [];
  let isAsking = true;
  const asking = (async () => {
    while (isAsking) {
      const askedAt = performance.now();
      const response = await fetch(`${service.url}/api/v1/auth/me`, { headers: { authorization: `Bearer ${token}` } });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`a request was answered ${response.status}`);
      took.push(performance.now() - askedAt);
      await pause(10);
    }
    return took;
  })();
  return {
    stop: () => {
      isAsking = false;
      return asking;
    },
  };
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}
