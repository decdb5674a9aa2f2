import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { DeployBench } from '../lab/support/deploy-bench.ts';
import { DOCKER } from '../lab/support/docker-program.ts';
import { KilledSite } from '../lab/support/killed-site.ts';
import { type Figure, spell } from './report.ts';
import { median } from './support/statistics.ts';

export const deployNotes = [
  'Deployments: ours, from the request to LIVE, against `git clone` + `ssh … docker build` + `docker run` of the same commit on the same server, in turns;',
  'the build takes about 8 s of its own. The target is 1.15 times the script and 2 s more, as a ratio to that bound. Needs the lab (npm run lab:up).',
];

const REDEPLOY_MS = 5000;
const SCRIPT_MS = 120_000;
const LOOK_MS = 25;

const app = (text: string): Record<string, string> => ({
  Dockerfile: [
    'FROM node:24-bookworm-slim',
    'WORKDIR /app',
    'COPY . .',
    'RUN sleep 8',
    'EXPOSE 8080',
    'CMD ["node", "server.js"]',
  ].join('\n'),
  'server.js': `require('http').createServer((q, s) => s.end(${JSON.stringify(text)})).listen(8080)`,
});

export async function benchDeployments(rounds: number): Promise<Figure[]> {
  if (spawnSync(DOCKER, ['info'], { stdio: 'ignore' }).status !== 0) return [];
  const site = await KilledSite.start();
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-deploy-'));
  try {
    return await compare(site.bench, folder, rounds);
  } finally {
    await site.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(bench: DeployBench, folder: string, rounds: number): Promise<Figure[]> {
  const { id, path } = await bench.environment('bench', app('first'));
  await bench.deploy(id);
  const times = { ours: [] as number[], theirs: [] as number[], again: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    bench.git.push(path, app(`theirs ${round}`), 'theirs');
    times.theirs.push(await byScript(bench, path, join(folder, `clone-${round}`), folder));
    bench.git.push(path, app(`ours ${round}`), 'ours');
    times.ours.push(await untilLive(bench, id));
    times.again.push(await untilLive(bench, id));
  }
  const [ours, theirs, again] = [median(times.ours), median(times.theirs), median(times.again)];
  const bound = theirs * 1.15 + 2000;
  return [
    {
      part: 'deploy',
      name: 'A deployment against the bare script',
      value: `${seconds(ours)} against ${seconds(theirs)}, bound ${seconds(bound)}`,
      score: ours / bound,
      unit: '× of the bound',
      target: { atMost: 1 },
      details: { ours, theirs },
    },
    {
      part: 'deploy',
      name: 'The same commit again, without a build',
      value: seconds(again),
      score: again / 1000,
      unit: ' s',
      target: { atMost: REDEPLOY_MS / 1000 },
      details: { again },
    },
  ];
}

async function untilLive(bench: DeployBench, id: string): Promise<number> {
  const began = performance.now();
  const asked = await bench.rest<{ id: string }>('POST', `/environments/${id}/deployments`, {});
  for (;;) {
    const path = `/environments/${id}/deployments/${asked.body.id}`;
    const { body } = await bench.rest<{ status: string; isFinished: boolean }>('GET', path);
    if (body.status === 'LIVE') {
      const took = performance.now() - began;
      await bench.finished(id, asked.body.id);
      return took;
    }
    if (body.isFinished) throw new Error(`It ended as ${body.status}`);
    await pause(LOOK_MS);
  }
}

/** What somebody would write who needs no more: fetch, build, start, and replace what ran before. */
async function byScript({ git, server }: DeployBench, path: string, clone: string, folder: string): Promise<number> {
  const key = join(folder, 'key');
  writeFileSync(key, server.privateKey, { mode: 0o600 });
  const ssh = `ssh -i ${key} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR deploy@${server.address}`;
  const script = [
    `GIT_SSL_CAINFO=${git.caFile} git clone --quiet --depth=1 ${git.url}/${path} ${clone}`,
    `tar -C ${clone} -c . | ${ssh} sudo DOCKER_BUILDKIT=1 docker build --quiet -t by-script - >/dev/null`,
    `${ssh} 'sudo docker rm -f by-script >/dev/null 2>&1; sudo docker run -d --name by-script -p 127.0.0.1:19000:8080 by-script >/dev/null'`,
    `until ${ssh} busybox wget -qO- http://127.0.0.1:19000/ >/dev/null; do :; done`,
  ].join(' && ');
  const began = performance.now();
  // Not synchronous: the Git server it asks is in this process.
  await promisify(execFile)('sh', ['-c', script], { timeout: SCRIPT_MS });
  return performance.now() - began;
}

const seconds = (ms: number): string => `${spell(ms / 1000)} s`;
