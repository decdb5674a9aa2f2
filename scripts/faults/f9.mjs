/**
 * F9 in full: `kill -9` of a service with the embedded database, of its PostgreSQL, and of both, under four writers, and
 * a second service on the same folder. Prints what was seen; exits with 1 when a promise was broken.
 *
 *   npm run faults:f9 [-- KILLS]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { countLost, ServiceProcess } from '../../test/support/embedded-driver.ts';

const kills = Number(process.argv[2] ?? 20);
const dataDir = await mkdtemp(join(tmpdir(), 'slipway-f9-'));
const acknowledged = [];
let service = new ServiceProcess(dataDir, acknowledged);
let hasFailed = false;

const victims = {
  'the service': async () => {
    const { pid } = await service.hear('opened');
    const answer = await restart();
    if (!answer.adopted || answer.pid !== pid) fail(`the running PostgreSQL ${pid} was not adopted`);
  },
  PostgreSQL: async pid => {
    process.kill(pid, 'SIGKILL');
    await service.hearWrites(1, pid);
  },
  both: async pid => {
    process.kill(pid, 'SIGKILL');
    const answer = await restart();
    if (answer.adopted) fail('a dead PostgreSQL was adopted');
  },
};

await service.hear('opened');
for (const [name, strike] of Object.entries(victims)) await strikeOften(name, strike);
await startSecond();
const { url } = await service.hear('opened');
const lost = await countLost(url, [...acknowledged]);
if (lost > 0) fail(`${lost} acknowledged writes are lost`);
console.log(`acknowledged writes ${acknowledged.length}, lost ${lost}`);
await service.interrupt();
await rm(dataDir, { recursive: true });
process.exitCode = hasFailed ? 1 : 0;

async function strikeOften(name, strike) {
  const tookMs = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const { pid } = await service.hearWrites(20);
    // Not always right after an answer: the moment of the kill falls anywhere within a write.
    await pause(Math.random() * 20);
    const startedAt = performance.now();
    await strike(pid);
    await service.hearWrites();
    tookMs.push(performance.now() - startedAt);
  }
  tookMs.sort((a, b) => a - b);
  const slowest = tookMs.at(-1);
  if (slowest > 5_000) fail(`writes came back after ${slowest} ms only`);
  const median = tookMs[Math.floor(tookMs.length / 2)];
  console.log(
    `kill -9 of ${name}: ${kills} times, writing again after ${format(median)} (median), ${format(slowest)} (slowest)`,
  );
}

async function restart() {
  await service.kill();
  service = new ServiceProcess(dataDir, acknowledged);
  return service.hear('opened');
}

async function startSecond() {
  const startedAt = performance.now();
  const { message } = await new ServiceProcess(dataDir).hear('refused');
  const tookMs = performance.now() - startedAt;
  if (tookMs > 2_000) fail(`the second service was refused after ${tookMs} ms only`);
  console.log(`second service refused after ${format(tookMs)}: ${message}`);
}

function fail(reason) {
  hasFailed = true;
  console.error(`FAILED: ${reason}`);
}

function format(ms) {
  return `${Math.round(ms)} ms`;
}
