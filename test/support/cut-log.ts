import type { EntityManager } from '@mikro-orm/postgresql';
import { LogWriter } from '../../src/engine/deploy/log-writer.ts';
import { Masker } from '../../src/engine/deploy/masker.ts';
import type { Deployment } from '../../src/entities/deployment.ts';
import { randomFrom, readThroughCuts } from './cutting.ts';
import { SseClient } from './sse-client.ts';

export interface CutLog {
  em: EntityManager;
  deployment: Deployment;
  /** Of one instance, or of several in turn. */
  urls: readonly string[];
  token: string;
  lines: number;
  cuts: number;
  seed: number;
  /** What is there before anybody reads; the rest is written meanwhile. */
  stored: number;
}

const SUBSCRIPTION = `subscription ($environmentId: ID!, $id: ID!, $after: String) {
  deploymentStatus(environmentId: $environmentId, id: $id, after: $after) { seq } }`;

/** F15 for a deployment: its log is written and read at once, over lines that are cut anywhere. Answers the numbers as they came. */
export async function readCutLog(cut: CutLog): Promise<number[]> {
  const log = new LogWriter(cut.em, cut.deployment, { masker: new Masker([]) });
  await write(log, 0, cut.stored);
  await log.flush();
  const random = randomFrom(cut.seed);
  const reading = readThroughCuts({
    open: (after, turn) => open(cut, after, turn),
    idOf,
    // The state it was queued by.
    start: '1',
    total: cut.lines,
    cuts: cut.cuts,
    random,
  });
  await write(log, cut.stored, cut.lines);
  await log.flush();
  return (await reading).map(Number);
}

async function write(log: LogWriter, from: number, to: number): Promise<void> {
  for (let line = from; line < to; line += 1) await log.write(Buffer.from(`line ${line} of a build\n`), 'stdout');
}

function open({ deployment, urls, token }: CutLog, after: string, turn: number): Promise<SseClient> {
  const { environmentId, id } = deployment;
  const url = urls[turn % urls.length] ?? '';
  const path = `${url}/api/v1/environments/${environmentId}/deployments/${id}/status`;
  if (turn % 3 === 0) return SseClient.open(path, { token, headers: { 'last-event-id': after } });
  if (turn % 3 === 1) return SseClient.open(`${path}?after=${after}`, { token });
  const body = { query: SUBSCRIPTION, variables: { environmentId, id, after } };
  return SseClient.open(`${url}/graphql/stream`, { token, body });
}

function idOf(data: string): string {
  const message = JSON.parse(data) as { seq: number; data?: { deploymentStatus: { seq: number } } };
  return String(message.data?.deploymentStatus.seq ?? message.seq);
}
