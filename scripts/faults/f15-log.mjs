/**
 * F15 for the log of a deployment: a hundred thousand lines, written while they are read, over a line that is cut a thousand
 * times anywhere, resumed by Last-Event-ID, by `after=` and by the argument of the subscription in turn. Prints what was seen;
 * exits with 1 when a promise was broken.
 *
 *   npm run faults:f15-log [-- CUTS LINES]
 */
import { MikroORM } from '@mikro-orm/postgresql';
import { ormConfig } from '../../mikro-orm.config.ts';
import { readCutLog } from '../../test/support/cut-log.ts';
import { makeDeployment, makeEnvironment } from '../../test/support/deployments.ts';
import { Installation } from '../../test/support/installation.ts';

const cuts = Number(process.argv[2] ?? 1000);
const lines = Number(process.argv[3] ?? 100_000);
const seed = Date.now() % 1_000_000;
const WRITTEN_WHILE_READ = 0.1;

const { read, seconds } = await Installation.during({ isBuilt: true }, cutOften);
const kept = new Set(read);
const told = Array.from({ length: lines }, (_, index) => index + 2);
const missing = told.filter(seq => !kept.has(seq)).length;
const repeated = read.length - kept.size;
const misplaced = told.filter((seq, index) => read[index] !== seq).length;
console.table([{ seed, cuts, lines: read.length, seconds, missing, repeated, misplaced }]);
const isKept = missing === 0 && repeated === 0 && misplaced === 0;
if (!isKept) console.error('FAILED: see the figures');
process.exitCode = isKept ? 0 : 1;

async function cutOften(installation) {
  const { service, token, workspaceId, databaseUrl } = installation;
  // What nobody works on would be taken up by the service itself, and its writer be shut out.
  await installation.sql(`delete from pgboss.schedule where name = 'deployments.sweep'`);
  const orm = await MikroORM.init(ormConfig({ connectionString: databaseUrl }));
  try {
    const app = { app: { database: { orm } } };
    const environment = await makeEnvironment(app, { workspaceId });
    const deployment = await makeDeployment(app, environment, { status: 'RUNNING' });
    const startedAt = performance.now();
    const stored = Math.floor(lines * (1 - WRITTEN_WHILE_READ));
    const cut = { em: orm.em, deployment, urls: [service.url], token, lines, cuts, seed, stored };
    const read = await readCutLog(cut);
    return { read, seconds: Math.round((performance.now() - startedAt) / 100) / 10 };
  } finally {
    await orm.close();
  }
}
