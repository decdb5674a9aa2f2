/**
 * A service in small: opens the embedded database of a folder and writes rows, one line on stdout for each row that
 * PostgreSQL acknowledged. Run as its own process, so that tests can kill it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../src/database/embedded-postgres.ts';

const WRITERS = 4;
const [dataDir = ''] = process.argv.slice(2);

const say = (kind: string, body: object) => process.stdout.write(`${JSON.stringify({ kind, ...body })}\n`);

const database = await openOrExit();
const pool = new Pool({ ...database.connection, max: WRITERS });
pool.on('error', () => undefined);
let isStopping = false;
const { pid, adopted, url } = database;
say('opened', { pid, adopted, url });
const writers = Array.from({ length: WRITERS }, write);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());

async function openOrExit(): Promise<EmbeddedPostgres> {
  try {
    return await openEmbeddedPostgres({ dataDir, log: line => process.stderr.write(`${line}\n`) });
  } catch (error) {
    say('refused', { message: (error as Error).message });
    process.exit(1);
  }
}

async function write(): Promise<void> {
  while (!isStopping) {
    const row = randomUUID();
    try {
      await pool.query('create table if not exists written (row uuid primary key)');
      await pool.query('insert into written values ($1)', [row]);
      say('acknowledged', { row, pid: database.pid });
    } catch {
      await pause(5);
    }
  }
}

/** The last writes after the signal show that Ctrl-C left PostgreSQL alone. */
async function stop(): Promise<void> {
  isStopping = true;
  await Promise.all(writers);
  const { rows } = await pool.query('select count(*)::int as count from written');
  await pool.end();
  await database.stop();
  say('stopped', rows[0]);
}
