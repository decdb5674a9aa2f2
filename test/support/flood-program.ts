/**
 * Writes a log of so many megabytes by a `LogWriter` in a process of its own, so that nothing else is weighed with it. Says on
 * stdout what that cost.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { MikroORM } from '@mikro-orm/postgresql';
import { ormConfig } from '../../mikro-orm.config.ts';
import { LogWriter } from '../../src/engine/deploy/log-writer.ts';
import { Masker } from '../../src/engine/deploy/masker.ts';

const MEGABYTE = 1024 * 1024;
const CHUNK = 32 * 1024;
const [databaseUrl = '', warmUpId = '', deploymentId = '', megabytes = '100'] = process.argv.slice(2);

const orm = (await MikroORM.init(ormConfig({ connectionString: databaseUrl }))) as MikroORM;
const secrets = Array.from({ length: 500 }, (_, index) => `https://user:${index}-secret@example.org/${index}`);
const masker = new Masker(secrets);
let most = 0;

/** Code is compiled and the heap has grown to its working size before anything is weighed. */
await flood(warmUpId, 40);
const before = process.memoryUsage.rss();
most = before;
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
const startedAt = performance.now();

await flood(deploymentId, Number(megabytes));
const figures = {
  seconds: Math.round(performance.now() - startedAt) / 1000,
  rssGrownMegabytes: Math.round((most - before) / MEGABYTE),
  loopP99Ms: Math.round(delay.percentile(99) / 1e6),
};
await orm.close();
process.stdout.write(`${JSON.stringify(figures)}\n`);

async function flood(id: string, size: number): Promise<void> {
  const log = new LogWriter(orm.em, { id, fence: 0 }, { masker });
  const text = Buffer.from(linesOf(4 * CHUNK));
  for (let written = 0; written < size * MEGABYTE; written += CHUNK) {
    const at = written % (text.length - CHUNK);
    await log.write(text.subarray(at, at + CHUNK), 'stdout');
    most = Math.max(most, process.memoryUsage.rss());
  }
  await log.flush();
}

function linesOf(length: number): string {
  let text = '';
  for (let line = 0; text.length < length; line += 1)
    text += `#${line} [builder 4/7] npm info run https://registry.npmjs.org/package-${line} in ${line % 97} ms\n`;
  return text;
}
