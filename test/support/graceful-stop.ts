import pg from 'pg';
import { openEmbeddedPostgres } from '../../src/database/embedded-postgres.ts';
import { eventually } from './eventually.ts';
import type { Installation } from './installation.ts';
import { SseClient } from './sse-client.ts';
import { SteadyLoad } from './steady-load.ts';

export interface StopFigures {
  answered: number;
  broken: number;
  badAnswers: number;
  streamsEnded: number;
  exitCode: number | null;
  exitMs: number;
  writesLost: number;
}

const STREAMS = 5;

/** F28: SIGTERM while clients ask and readers listen. */
export async function stopUnderLoad(
  { service, token, dataDir }: Installation,
  clients: number,
  requests: number,
): Promise<StopFigures> {
  const { url } = service;
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, () => SseClient.open(`${url}/api/v1/events`, { token })),
  );
  const written: string[] = [];
  let asked = 0;
  const load = new SteadyLoad(url, token, clients, async call => {
    asked += 1;
    const name = `token ${asked}`;
    await call('GET', '/api/v1/auth/me');
    const { status } = await call('POST', '/api/v1/auth/tokens', { name, scope: 'read' });
    if (status === 201) written.push(name);
    await call('POST', '/api/v1/auth/forgot-password', { email: 'nobody@example.org' });
  });
  await eventually(() => load.count >= requests, 60_000);
  const stoppedAt = performance.now();
  service.signal('SIGTERM');
  const exitCode = await service.exited;
  const exitMs = Math.round(performance.now() - stoppedAt);
  await Promise.all([load.ended(), ...streams.map(({ ended }) => ended)]);
  const kept = await keptNames(dataDir);
  return {
    answered: load.count,
    broken: load.broken.length,
    badAnswers: load.answered.filter(({ status }) => status >= 300).length,
    streamsEnded: streams.length,
    exitCode,
    exitMs,
    writesLost: written.filter(name => !kept.has(name)).length,
  };
}

async function keptNames(dataDir: string): Promise<Set<string>> {
  const server = await openEmbeddedPostgres({ dataDir });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>('select name from api_token');
  await client.end();
  await server.stop();
  return new Set(rows.map(({ name }) => name));
}
