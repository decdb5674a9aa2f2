import type { Slice, SliceResult } from './drivers/request-driver.ts';
import type { Figure, Target } from './report.ts';
import { spell } from './report.ts';
import { DriverProcess } from './support/driver-process.ts';
import { type Account, Ground } from './support/ground.ts';
import type { MeasuredProcess } from './support/measured-process.ts';
import { hashes, queries } from './support/operations.ts';
import { median } from './support/statistics.ts';

export interface Pace {
  sliceMs: number;
  rounds: number;
  warmUpMs: number;
}

interface Case {
  part: 'rest' | 'graphql';
  name: string;
  request: string;
  target: Target;
  /** Persisted operations are none of the usual stack. */
  isUsual: boolean;
}

interface Sample {
  cpuMicros: number;
  perSecond: number;
}

const CONNECTIONS = 16;
const TIMES_USUAL = 4;

export const readNotes = [
  'Reads: CPU is what the server process used, user and system, threads included (process.cpuUsage), per request. The score is the',
  'CPU of the raw server divided by ours, the median of rounds in which the servers take turns under the same 16 connections.',
  'Ours: the built service as it runs, with its log line, metrics and security headers for every request. Raw: node:http and pg only;',
  'token verified once and session asked once, as ours; the same statements prepared on a pool of 10, the same JSON, Content-Type,',
  'Content-Length, X-Request-Id and Link; with limits on the same one counter statement and RateLimit headers. It validates nothing,',
  'logs nothing and knows its two operations by heart. Usual: Apollo, TypeGraphQL, em.find and SOFA as their guides write them.',
];

export async function benchReads(parts: ReadonlySet<string>, pace: Pace): Promise<Figure[]> {
  const ground = await Ground.lay();
  const driver = new DriverProcess<Slice>('../drivers/request-driver.ts');
  try {
    const off = await ground.service('off');
    const account = await ground.account(off);
    const cases = casesFor(account, await ground.fillAudit(account)).filter(({ part }) => parts.has(part));
    const quiet = { service: off, raw: await ground.raw('off'), usual: await ground.usual() };
    const counted = { service: await ground.service('on'), raw: await ground.raw('on'), usual: undefined };
    const figures: Figure[] = [];
    for (const one of cases) {
      figures.push(...(await compare(driver, one, 'limits off', quiet, pace)));
      figures.push(...(await compare(driver, one, 'limits on', counted, pace)));
    }
    return figures;
  } finally {
    driver.stop();
    await ground.clear();
  }
}

function casesFor({ token }: Account, id: string): Case[] {
  const rest = (path: string) => `GET /api/v1${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const graphql = (operation: object) => {
    const body = JSON.stringify(operation);
    const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
    return `POST /graphql HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n${type}\r\n\r\n${body}`;
  };
  const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });
  const some = { limit: 50 };
  const the = { id };
  return [
    make('rest', 'REST list of 50', rest('/audit'), 0.75),
    make('rest', 'REST single', rest(`/audit/${id}`), 0.4),
    make('graphql', 'GraphQL list of 50', graphql({ query: queries.list, variables: some }), 0.5),
    make('graphql', 'GraphQL single', graphql({ query: queries.one, variables: the }), 0.3),
    make(
      'graphql',
      'persisted list of 50',
      graphql({ variables: some, extensions: persisted(hashes.list) }),
      0.6,
      false,
    ),
    make('graphql', 'persisted single', graphql({ variables: the, extensions: persisted(hashes.one) }), 0.3, false),
  ];
}

const make = (part: Case['part'], name: string, request: string, atLeast: number, isUsual = true): Case => ({
  part,
  name,
  request,
  target: { atLeast },
  isUsual,
});

interface Contest {
  service: MeasuredProcess;
  raw: MeasuredProcess;
  usual: MeasuredProcess | undefined;
}

type Driver = DriverProcess<Slice>;

async function compare(driver: Driver, one: Case, limits: string, contest: Contest, pace: Pace): Promise<Figure[]> {
  const usual = one.isUsual ? contest.usual : undefined;
  const servers = [contest.service, contest.raw, ...(usual ? [usual] : [])];
  for (const server of servers) await take(driver, server, one, pace.warmUpMs);
  const rounds: Sample[][] = [];
  for (let round = 0; round < pace.rounds; round += 1) {
    const samples: Sample[] = [];
    for (const server of servers) samples.push(await take(driver, server, one, pace.sliceMs));
    rounds.push(samples);
  }
  return figuresOf(one, limits, rounds, usual !== undefined);
}

async function take(driver: Driver, server: MeasuredProcess, { request }: Case, milliseconds: number): Promise<Sample> {
  const before = await server.usage();
  const slice = { port: server.port, request, connections: CONNECTIONS, milliseconds };
  const { requests, milliseconds: took } = await driver.ask<SliceResult>(slice);
  const { cpuMicros } = await server.usage();
  return { cpuMicros: (cpuMicros - before.cpuMicros) / requests, perSecond: (requests / took) * 1000 };
}

function figuresOf({ part, name, target }: Case, limits: string, rounds: Sample[][], hasUsual: boolean): Figure[] {
  const [ours, raw, usual] = [0, 1, 2].map(server => middle(rounds.map(samples => samples[server])));
  const ratio = ratioOf(rounds, 1);
  const label = `${name}, ${limits}`;
  const speak = (sample: Sample | undefined) =>
    `${spell(sample?.cpuMicros ?? 0)} µs ${spell(sample?.perSecond ?? 0)}/s`;
  const against: Figure = {
    part,
    name: label,
    value: `ours ${speak(ours)}, raw ${speak(raw)}`,
    score: ratio,
    target,
    details: { ...spread('ours', ours), ...spread('raw', raw), ratio },
  };
  if (!hasUsual) return [against];
  const times = ratioOf(rounds, 2);
  const stack: Figure = {
    part,
    name: `${label}, against the usual stack`,
    value: `usual ${speak(usual)}`,
    score: times,
    unit: ' ×',
    target: { atLeast: TIMES_USUAL },
    details: { ...spread('usual', usual), times },
  };
  return [against, stack];
}

const ratioOf = (rounds: Sample[][], other: number): number =>
  median(rounds.map(samples => (samples[other]?.cpuMicros ?? 0) / (samples[0]?.cpuMicros ?? 1)));

function middle(samples: readonly (Sample | undefined)[]): Sample | undefined {
  const known = samples.filter(sample => sample !== undefined);
  if (known.length === 0) return undefined;
  return { cpuMicros: median(known.map(s => s.cpuMicros)), perSecond: median(known.map(s => s.perSecond)) };
}

const spread = (who: string, sample: Sample | undefined): Record<string, number> => ({
  [`${who}CpuMicros`]: sample?.cpuMicros ?? 0,
  [`${who}PerSecond`]: sample?.perSecond ?? 0,
});
