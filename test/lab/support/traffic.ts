import { type DeployBench, type DeploymentAnswer, webApp } from './deploy-bench.ts';
import { Prober } from './prober.ts';

export interface TrafficOutcome {
  good: number;
  broken: number;
  asked: number;
  failures: string[];
  slowestRollbackMs: number;
  /** Pages seen that no good deployment had. */
  strangers: string[];
}

/** An application that is killed while it answers would be noticed: it takes its time, and does not end by itself. */
const app = (text: string): Record<string, string> =>
  webApp(text, {
    'server.js': [
      `const server = require('http').createServer((q, s) => setTimeout(() => s.end(${JSON.stringify(text)}), 20)).listen(8080);`,
      `process.on('SIGTERM', () => server.close(() => process.exit(0)));`,
    ].join('\n'),
  });

/** Ends at once, never listens, answers with 500, or cannot be built: in turn. */
const BROKEN: readonly (() => Record<string, string>)[] = [
  () => webApp('broken', { 'server.js': 'process.exit(1)' }),
  () => webApp('broken', { 'server.js': 'setInterval(() => 0, 1000)' }),
  () =>
    webApp('broken', {
      'server.js': `require('http').createServer((q, s) => { s.statusCode = 500; s.end('broken') }).listen(8080)`,
    }),
  () => webApp('broken', { Dockerfile: 'FROM node:24-bookworm-slim\nRUN false\n' }),
];

/** Good and broken deployments in turn, and rollbacks, while the page is asked so many times a second. */
export async function deployUnderTraffic(
  bench: DeployBench,
  { rounds, perSecond }: { rounds: number; perSecond: number },
): Promise<TrafficOutcome> {
  const { id, path } = await bench.environment('busy', app('good 0'));
  const healthCheck = { path: '/', intervalSeconds: 1, timeoutSeconds: 2, retries: 3 };
  await bench.rest('PATCH', `/environments/${id}`, { healthCheck });
  const first = await bench.deploy(id);
  if (first.status !== 'LIVE') throw new Error(JSON.stringify(first.error));
  const prober = new Prober((await bench.get(id)).url ?? '', perSecond);
  const outcome: TrafficOutcome = { good: 0, broken: 0, asked: 0, failures: [], slowestRollbackMs: 0, strangers: [] };
  for (let round = 1; round <= rounds; round += 1) {
    bench.git.push(path, app(`good ${round}`), `good ${round}`);
    const good = await bench.deploy(id);
    if (good.status === 'LIVE') outcome.good += 1;
    bench.git.push(path, (BROKEN[round % BROKEN.length] as () => Record<string, string>)(), `broken ${round}`);
    if ((await bench.deploy(id)).status === 'FAILED') outcome.broken += 1;
    if (round % 5 === 0 || round === rounds)
      outcome.slowestRollbackMs = Math.max(outcome.slowestRollbackMs, await rollBack(bench, id, first.id));
  }
  await prober.stop();
  const strangers = [...prober.seen.keys()].filter(text => !text.startsWith('good '));
  return { ...outcome, asked: prober.asked, failures: prober.failures, strangers };
}

/** From the request until the old page is the one that is answered by. */
async function rollBack(bench: DeployBench, id: string, to: string): Promise<number> {
  const began = performance.now();
  const path = `/environments/${id}/deployments`;
  const kept = await bench.rest<DeploymentAnswer[]>('GET', `${path}?limit=50&status=SUPERSEDED`);
  const target = kept.body.find(({ image }) => image !== null)?.id ?? to;
  const asked = await bench.rest<DeploymentAnswer>('POST', `${path}/${target}/rollback`, {});
  if (asked.status !== 202) throw new Error(JSON.stringify(asked.body));
  for (;;) {
    const { body } = await bench.rest<DeploymentAnswer>('GET', `${path}/${asked.body.id}`);
    if (body.status === 'LIVE') return performance.now() - began;
    if (body.isFinished) throw new Error(JSON.stringify(body.error));
  }
}
