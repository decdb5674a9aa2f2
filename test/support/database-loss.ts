import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { eventually } from './eventually.ts';
import type { Installation } from './installation.ts';
import { SseClient } from './sse-client.ts';
import { type Answered, SteadyLoad } from './steady-load.ts';

export interface LossFigures {
  kills: number;
  acknowledged: number;
  lost: number;
  refused: number;
  badRefusals: number;
  otherAnswers: string;
  broken: number;
  slowestReturnMs: number;
  eventsTold: number;
  eventsMissed: number;
  isSameProcess: boolean;
}

/** F2: PostgreSQL is killed again and again while clients write and somebody listens. */
export async function loseDatabase(installation: Installation, clients: number, kills: number): Promise<LossFigures> {
  const { service, token } = installation;
  const { pid } = service;
  const written: string[] = [];
  let asked = 0;
  const load = new SteadyLoad(service.url, token, clients, async call => {
    asked += 1;
    const name = `token ${asked}`;
    const { status } = await call('POST', '/api/v1/auth/tokens', { name, scope: 'read' });
    if (status === 201) written.push(name);
    else await pause(50);
  });
  const listener = new Listener(installation);
  const returns: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    await nextWrite(load);
    await listener.tell();
    process.kill(postmasterOf(installation), 'SIGKILL');
    await eventually(() => load.answered.at(-1)?.status === 503);
    await reachable(installation);
    const backAt = performance.now();
    await nextWrite(load);
    returns.push(performance.now() - backAt);
  }
  await listener.tell();
  await load.stop();
  const kept = new Set(
    (await query<{ name: string }>(installation, 'select name from api_token')).map(row => row.name),
  );
  const refused = load.answered.filter(({ status }) => status === 503);
  const others = load.answered.filter(({ status }) => status !== 503 && status !== 201);
  return {
    kills,
    acknowledged: written.length,
    lost: written.filter(name => !kept.has(name)).length,
    refused: refused.length,
    badRefusals: refused.filter(answer => !isGoodRefusal(answer)).length,
    otherAnswers: [...new Set(others.map(({ status, body }) => `${status} ${body.slice(0, 80)}`))].join('; '),
    broken: load.broken.length,
    slowestReturnMs: Math.round(Math.max(...returns)),
    eventsTold: listener.told,
    eventsMissed: await listener.missed(),
    isSameProcess: service.isRunning && service.pid === pid,
  };
}

const isGoodRefusal = ({ headers, body }: Answered): boolean =>
  String(headers['content-type']).startsWith('application/problem+json') &&
  Number(headers['retry-after']) > 0 &&
  (JSON.parse(body) as { code: string }).code === 'NOT_READY';

async function nextWrite(load: SteadyLoad): Promise<void> {
  const from = load.count;
  await eventually(() => load.answered.slice(from).some(({ status }) => status === 201), 30_000);
}

const postmasterOf = ({ dataDir }: Installation): number =>
  Number.parseInt(readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8'), 10);

async function query<Row extends object>({ databaseUrl }: Installation, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

const reachable = (installation: Installation) =>
  eventually(() =>
    query(installation, 'select 1').then(
      () => true,
      () => false,
    ),
  );

/** Listens as a browser does: when the stream ends or is refused it comes back and says where it was. */
class Listener {
  told = 0;
  readonly #heard = new Set<string>();
  readonly #reading: Promise<void>;
  #start: string | undefined;
  #isOver = false;

  constructor(private readonly installation: Installation) {
    this.#reading = this.#read();
  }

  async tell(): Promise<void> {
    await this.installation.reconnect();
    await this.installation.tell(10);
    this.told += 10;
    if (this.#start === undefined) [this.#start] = await this.installation.eventIds();
  }

  async missed(): Promise<number> {
    await this.installation.reconnect();
    const [, ...rest] = await this.installation.eventIds();
    await eventually(() => rest.every(id => this.#heard.has(id)), 15_000).catch(() => undefined);
    this.#isOver = true;
    await this.#reading;
    return rest.filter(id => !this.#heard.has(id)).length;
  }

  async #read(): Promise<void> {
    const { service, token } = this.installation;
    await eventually(() => this.#start !== undefined, 30_000);
    let last = this.#start ?? '';
    while (!this.#isOver) {
      const headers = { 'last-event-id': last };
      const reader = await SseClient.open(`${service.url}/api/v1/events`, { token, headers });
      while (!this.#isOver) {
        const message = await Promise.race([reader.next(), pause(200, 'nothing' as const)]);
        if (message === undefined) break;
        if (message === 'nothing') continue;
        last = message.id ?? last;
        this.#heard.add(last);
      }
      await reader.cut();
      await pause(100);
    }
  }
}
