// npm run move-database -- postgresql://…   copies the embedded database in DATA_DIR to a PostgreSQL server; the service must be stopped
import { resolve } from 'node:path';
import pg from 'pg';
import { openEmbeddedPostgres } from '../src/database/embedded-postgres.ts';
import { moveRows } from './move-rows.mjs';

const [target] = process.argv.slice(2);
if (!/^postgres(ql)?:\/\//.test(target ?? ''))
  stopWith('usage: npm run move-database -- postgresql://user:password@host:5432/database');

const dataDir = resolve(process.env.DATA_DIR ?? './data');
const embedded = await openEmbeddedPostgres({ dataDir }).catch(error => stopWith(error.message));
const from = new pg.Client(embedded.connection);
const to = new pg.Client({ connectionString: target });
try {
  await from.connect();
  await to.connect();
  const counts = await moveRows(from, to);
  for (const [table, count] of Object.entries(counts))
    if (count > 0) console.log(`${String(count).padStart(8)}  ${table}`);
  console.log('Everything was copied. Start the service with DATABASE_URL and the same keys.');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await Promise.allSettled([from.end(), to.end()]);
  await embedded.stop();
}

function stopWith(message) {
  console.error(message);
  process.exit(1);
}
