import { eventually } from '../../support/eventually.ts';
import { type DeployBench, type DeploymentAnswer, webApp } from './deploy-bench.ts';
import type { KilledSite } from './killed-site.ts';
import { Prober } from './prober.ts';

export const PHASES = ['PREPARING', 'BUILDING', 'PRE_DEPLOY', 'STARTING', 'VERIFYING', 'SWITCHING', 'DRAINING'];

export interface KillOutcome {
  phase: string;
  status: string;
  /** From the return of the service until somebody worked on the deployment again, or it had ended. */
  resumedMs: number;
  asked: number;
  failures: number;
  orphans: number;
  tempFiles: number;
}

/** Every phase takes a while: a build and a command that wait, a start that is slow to listen, a stop that takes its time. */
export const slowApp = (text: string): Record<string, string> => ({
  ...webApp(text),
  Dockerfile: [
    'FROM node:24-bookworm-slim',
    'WORKDIR /app',
    'COPY . .',
    'RUN for i in 1 2 3 4; do echo step $i; sleep 0.5; done',
    'EXPOSE 8080',
    'CMD ["node", "server.js"]',
  ].join('\n'),
  'server.js': [
    `const server = require('http').createServer((q, s) => s.end(${JSON.stringify(text)}));`,
    'setTimeout(() => server.listen(8080), 1000);',
    `process.on('SIGTERM', () => setTimeout(() => process.exit(0), 1500));`,
  ].join('\n'),
});

/** An environment whose deployments can be killed in each phase. */
export async function slowEnvironment(bench: DeployBench, name: string): Promise<{ id: string; path: string }> {
  const { id, path } = await bench.environment(name, slowApp('first'));
  await bench.rest('PATCH', `/environments/${id}`, {
    preDeployCommand: 'sleep 2; echo pre-deploy ran',
    healthCheck: { path: '/', intervalSeconds: 1, timeoutSeconds: 5, retries: 30 },
  });
  const first = await bench.deploy(id);
  if (first.status !== 'LIVE') throw new Error(JSON.stringify(first.error));
  return { id, path };
}

/** A deployment whose service is killed in a phase of it, and what came of it. */
export async function killInPhase(
  site: KilledSite,
  { id, path }: { id: string; path: string },
  phase: string,
): Promise<KillOutcome> {
  const { bench } = site;
  const text = `${phase} ${performance.now()}`;
  const { url } = await bench.get(id);
  bench.git.push(path, slowApp(text), text);
  const prober = new Prober(url ?? '', 10);
  const asked = await bench.rest<DeploymentAnswer>('POST', `/environments/${id}/deployments`, {});
  await site.killIn(asked.body.id, phase);
  const fence = await fenceOf(site, asked.body.id);
  await site.comeBack();
  const backAt = performance.now();
  await eventually(async () => (await fenceOf(site, asked.body.id)) > fence, 60_000);
  const resumedMs = Math.round(performance.now() - backAt);
  const ended = await bench.finished(id, asked.body.id);
  await prober.stop();
  return {
    phase,
    status: ended.status,
    resumedMs,
    asked: prober.asked,
    failures: prober.failures.length,
    orphans: await orphans(site, id),
    tempFiles: (await site.tempFiles()).length,
  };
}

/** A deployment that has ended counts as resumed, whoever ended it. */
async function fenceOf(site: KilledSite, id: string): Promise<number> {
  const [row] = await site.sql<{ fence: number; is_finished: boolean }>(
    'select fence, is_finished from deployment where id = $1',
    [id],
  );
  return row?.is_finished ? Number.POSITIVE_INFINITY : (row?.fence ?? 0);
}

/** Containers besides the one that serves, networks besides the environment's, images besides the kept, and work. */
async function orphans({ bench }: KilledSite, id: string): Promise<number> {
  const { currentDeploymentId } = await bench.get(id);
  const label = `label=slipway.environment=${id}`;
  const count = async (...words: string[]) => (await bench.server.exec(...words)).split('\n').filter(Boolean);
  const containers = await count('docker', 'ps', '--all', '--filter', label, '--format', '{{.Names}}');
  const networks = await count('docker', 'network', 'ls', '--filter', label, '--quiet');
  const volumes = await count('docker', 'volume', 'ls', '--filter', label, '--quiet');
  const images = await count('docker', 'images', '--filter', label, '--quiet');
  const work = await count('sh', '-c', 'ls /var/tmp/slipway-* 2>/dev/null || true');
  const strangers = containers.filter(name => name !== `slipway-${currentDeploymentId}`).length;
  return strangers + Math.max(0, networks.length - 1) + volumes.length + Math.max(0, images.length - 5) + work.length;
}
