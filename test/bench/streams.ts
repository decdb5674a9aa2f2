import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { LOCK } from '../../src/database/lock.ts';
import type { Delivery, StreamQuestion } from './drivers/stream-driver.ts';
import { type Figure, spell } from './report.ts';
import { DriverProcess } from './support/driver-process.ts';
import { type Account, Ground } from './support/ground.ts';
import type { MeasuredProcess } from './support/measured-process.ts';
import { median } from './support/statistics.ts';

interface Door {
  name: string;
  request(token: string): string;
}

interface Message {
  cpuMicros: number;
  delivery: Delivery;
}

type Driver = DriverProcess<StreamQuestion>;

const SIZES = [1000, 10_000];
const WARM_UP_READERS = 200;
const SETTLE_MS = 1500;
const LEFT_AFTER_MS = 2000;

export const streamNotes = [
  'Streams: one event is one row, committed with its NOTIFY; raw is told by its parent process and writes one prepared buffer of the',
  'same bytes to every response. Score of the CPU: raw divided by ours, per message and reader, the two taking turns. Delivery is from',
  'the start of the transaction to the arrival at the reader. Memory is the growth of RSS from before the readers came to after the last message.',
];

const FIELDS = 'id kind action at actor projectId resourceType resourceId data';

const DOORS: Door[] = [
  {
    name: 'GET /events',
    request: token => `GET /api/v1/events HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  },
  {
    name: 'POST /graphql/stream',
    request: token => {
      const body = JSON.stringify({ query: `subscription { events { ${FIELDS} } }` });
      const head = `Content-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: ${body.length}`;
      return `POST /graphql/stream HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n${head}\r\n\r\n${body}`;
    },
  },
];

export async function benchStreams(messages: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const door of DOORS) {
    for (const readers of SIZES) figures.push(...(await benchDoor(door, readers, messages)));
  }
  return figures;
}

/** Each size on fresh processes: memory once taken is seldom given back. */
async function benchDoor(door: Door, readers: number, messages: number): Promise<Figure[]> {
  const ground = await Ground.lay();
  const [ourReaders, rawReaders] = [0, 1].map(() => new DriverProcess<StreamQuestion>('../drivers/stream-driver.ts'));
  if (ourReaders === undefined || rawReaders === undefined) throw new Error('no drivers');
  try {
    const service = await ground.service('off');
    const raw = await ground.rawBroadcast();
    const account = await ground.account(service);
    const ours = new Side(service, ourReaders, door.request(account.token), () => insertEvent(ground, account));
    const theirs = new Side(raw, rawReaders, door.request(account.token), async () => raw.tell({ broadcast: FRAME }));
    for (const side of [ours, theirs]) await side.warmUp();
    for (const side of [ours, theirs]) await side.gather(readers);
    for (let count = 0; count < messages; count += 1) for (const side of [ours, theirs]) await side.deliver();
    for (const side of [ours, theirs]) await side.weigh();
    await ours.leave();
    return figuresOf(door, readers, ours, theirs, await openStreams(service));
  } finally {
    ourReaders.stop();
    rawReaders.stop();
    await ground.clear();
  }
}

/** One server with its readers. */
class Side {
  readonly messages: Message[] = [];
  bytesPerReader = 0;
  readonly #server: MeasuredProcess;
  readonly #driver: Driver;
  readonly #request: string;
  readonly #publish: () => Promise<void>;
  #readers = 0;
  #rssBefore = 0;

  constructor(server: MeasuredProcess, driver: Driver, request: string, publish: () => Promise<void>) {
    this.#server = server;
    this.#driver = driver;
    this.#request = request;
    this.#publish = publish;
  }

  async warmUp(): Promise<void> {
    await this.gather(WARM_UP_READERS);
    for (let count = 0; count < 3; count += 1) await this.deliver();
    await this.leave();
    this.messages.length = 0;
    this.#rssBefore = (await this.#server.usage()).rssBytes;
  }

  async gather(readers: number): Promise<void> {
    this.#readers = readers;
    await this.#driver.ask({ open: { port: this.#server.port, request: this.#request, readers } });
    await pause(SETTLE_MS);
  }

  async deliver(): Promise<void> {
    await this.#driver.ask({ arm: true });
    const before = await this.#server.usage();
    const sentAt = performance.timeOrigin + performance.now();
    await this.#publish();
    const delivery = await this.#driver.ask<Delivery>({ await: { sentAt } });
    const { cpuMicros } = await this.#server.usage();
    this.messages.push({ cpuMicros: (cpuMicros - before.cpuMicros) / this.#readers, delivery });
    await pause(100);
  }

  async weigh(): Promise<void> {
    const { rssBytes } = await this.#server.usage();
    this.bytesPerReader = (rssBytes - this.#rssBefore) / this.#readers;
  }

  async leave(): Promise<void> {
    await this.#driver.ask({ close: true });
    await pause(LEFT_AFTER_MS);
  }
}

function figuresOf(door: Door, readers: number, ours: Side, raw: Side, left: number): Figure[] {
  const cpu = (side: Side) => median(side.messages.map(({ cpuMicros }) => cpuMicros));
  const at = (side: Side, share: 'p50' | 'p99') => median(side.messages.map(({ delivery }) => delivery[share]));
  const pairs = ours.messages.map((message, index) => (raw.messages[index]?.cpuMicros ?? 0) / message.cpuMicros);
  const isMany = readers === 10_000;
  const name = `${door.name}, ${readers} readers`;
  const line = (what: string, value: string, score: number, rest: Partial<Figure>): Figure => ({
    part: 'sse',
    name: `${name}: ${what}`,
    value,
    score,
    details: { score },
    ...rest,
  });
  const [ourKb, rawKb] = [ours.bytesPerReader / 1024, raw.bytesPerReader / 1024];
  return [
    line('CPU a message', `ours ${spell(cpu(ours))} µs, raw ${spell(cpu(raw))} µs`, median(pairs), {
      target: { atLeast: 0.8 },
      details: { oursCpuMicros: cpu(ours), rawCpuMicros: cpu(raw), ratio: median(pairs) },
    }),
    line(
      'delivery p99',
      `ours p50 ${spell(at(ours, 'p50'))} p99 ${spell(at(ours, 'p99'))} ms, raw p50 ${spell(at(raw, 'p50'))} p99 ${spell(at(raw, 'p99'))} ms`,
      at(ours, 'p99'),
      {
        unit: ' ms',
        ...(isMany ? { target: { atMost: 250 } } : {}),
        details: { oursP50: at(ours, 'p50'), oursP99: at(ours, 'p99'), rawP50: at(raw, 'p50'), rawP99: at(raw, 'p99') },
      },
    ),
    line('memory a reader', `ours ${spell(ourKb)} KB, raw ${spell(rawKb)} KB`, ourKb, {
      unit: ' KB',
      ...(isMany ? { target: { atMost: 20 } } : {}),
      details: { oursKb: ourKb, rawKb },
    }),
    line('left 2 s after all went', `${left} open`, left, { target: { atMost: 0 } }),
  ];
}

async function openStreams({ port }: MeasuredProcess): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^slipway_open_streams (\d+)/m.exec(text)?.[1]);
}

/** As events/unit-of-work.ts writes one: numbered under the lock, rung for at commit. */
async function insertEvent({ sql }: Ground, { userId, workspaceId }: Account): Promise<void> {
  await sql.query('begin');
  await sql.query('select pg_advisory_xact_lock($1)', [LOCK.events]);
  await sql.query(
    `insert into event (seq, id, workspace_id, kind, action, at, actor, project_id, resource_type, resource_id, data)
     values (nextval('event_seq'), $1, $2, 'run_updated', 'UPDATED', now(), $3, null, 'Run', $4, $5)`,
    [randomUUIDv7(), workspaceId, userId, RUN.id, RUN],
  );
  await sql.query(`select pg_notify('slipway_event', '')`);
  await sql.query('commit');
}

const RUN = {
  id: randomUUIDv7(),
  kind: 'RESEAL_SECRETS',
  error: null,
  steps: [{ name: 'reseal', status: 'DONE', startedAt: new Date(), finishedAt: new Date() }],
  status: 'RUNNING',
  version: 1,
  createdAt: new Date(),
  startedAt: new Date(),
  finishedAt: null,
};

/** An event of the same size as the service writes it. */
const FRAME = `id: ${randomUUIDv7()}\ndata: ${JSON.stringify({
  id: randomUUIDv7(),
  kind: 'run_updated',
  action: 'UPDATED',
  at: new Date(),
  actor: randomUUIDv7(),
  projectId: null,
  resourceType: 'Run',
  resourceId: RUN.id,
  data: RUN,
})}\n\n`;
