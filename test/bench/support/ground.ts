import { randomUUIDv7 } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFileSync } from '@swc/core';
import pg from 'pg';
import { openEmbeddedPostgres } from '../../../src/database/embedded-postgres.ts';
import { MeasuredProcess } from './measured-process.ts';
import { manifest } from './operations.ts';
import { usualFlags } from './usual-flags.ts';

const KEY = 'a key for the bench that is long enough';
const ACCOUNT = { email: 'bench@example.org', password: 'correct horse battery' };
const ROWS = 200;
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const OFF = { RATE_LIMIT: 'off', SLOW_DOWN: 'off' };
const ON = { RATE_LIMIT: '100000000/1m', SLOW_DOWN: '100000000/1m' };

export interface Account {
  token: string;
  userId: string;
  workspaceId: string;
}

/** What every part of the bench stands on: a throw-away PostgreSQL of the service's own kind, and servers started on it. */
export class Ground {
  readonly folder: string;
  readonly sql: pg.Client;
  readonly #databaseUrl: string;
  readonly #close: () => Promise<void>;
  readonly #servers = new Set<MeasuredProcess>();

  private constructor(folder: string, sql: pg.Client, databaseUrl: string, close: () => Promise<void>) {
    this.folder = folder;
    this.sql = sql;
    this.#databaseUrl = databaseUrl;
    this.#close = close;
  }

  static async lay(): Promise<Ground> {
    const folder = await mkdtemp(join(tmpdir(), 'slipway-bench-'));
    const database = await openEmbeddedPostgres({ dataDir: folder, settings: { max_connections: '150' } });
    const sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
    writeFileSync(join(folder, 'operations.json'), manifest);
    return new Ground(folder, sql, database.url, () => database.stop());
  }

  /** The built service, with everything it does for each request: log, metrics, security headers. */
  service(limits: 'off' | 'on', program = join(ROOT, 'scripts/start.mjs')): Promise<MeasuredProcess> {
    return this.#start('service', [...usualFlags(), program], {
      ...(limits === 'on' ? ON : OFF),
      RATE_LIMIT_AUTH: 'off',
      RATE_LIMIT_EMAIL: 'off',
      MASTER_KEY: KEY,
      ACCESS_TOKEN_TTL: '1d',
      DATA_DIR: this.folder,
      BOOTSTRAP_EMAIL: ACCOUNT.email,
      BOOTSTRAP_PASSWORD: ACCOUNT.password,
      PERSISTED_OPERATIONS: join(this.folder, 'operations.json'),
    });
  }

  raw(limits: 'off' | 'on'): Promise<MeasuredProcess> {
    return this.#start('raw', [join(ROOT, 'test/bench/servers/raw-server.ts')], { COUNT: limits });
  }

  rawBroadcast(): Promise<MeasuredProcess> {
    return this.#start('raw', [join(ROOT, 'test/bench/servers/raw-broadcast.ts')], {});
  }

  usual(): Promise<MeasuredProcess> {
    return this.#start('usual', [compileDecorated(join(ROOT, 'test/bench/servers/usual-server.ts'))], {});
  }

  /** Signs the bench in and gives its workspace rows to read. */
  async account({ port }: MeasuredProcess): Promise<Account> {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ACCOUNT),
    });
    const { accessToken, user } = (await response.json()) as {
      accessToken: string;
      user: { id: string; workspaceId: string };
    };
    return { token: accessToken, userId: user.id, workspaceId: user.workspaceId };
  }

  async fillAudit({ userId, workspaceId }: Account): Promise<string> {
    const ids = Array.from({ length: ROWS }, () => randomUUIDv7());
    await this.sql.query(
      `insert into audit_entry (id, workspace_id, at, actor, ip, action, resource, outcome, request_id)
       select id, $2, now(), $3, '203.0.113.7', 'triggerDeployment', 'Environment:' || id, 'DONE', id::text
       from unnest($1::uuid[]) as id`,
      [ids, workspaceId, userId],
    );
    return ids[ROWS / 2] as string;
  }

  async stop(server: MeasuredProcess): Promise<void> {
    this.#servers.delete(server);
    await server.stop();
  }

  async clear(): Promise<void> {
    await Promise.all([...this.#servers].map(server => server.stop()));
    await this.sql.end();
    await this.#close();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #start(name: string, words: readonly string[], env: Record<string, string>): Promise<MeasuredProcess> {
    const common = { DATABASE_URL: this.#databaseUrl, JWT_SECRET: KEY, LOG_FORMAT: 'json' };
    const server = await MeasuredProcess.start(name, words, this.folder, { ...common, ...env });
    this.#servers.add(server);
    return server;
  }
}

/** Node runs TypeScript by itself, but for decorators. */
function compileDecorated(file: string): string {
  const { code } = transformFileSync(file, {
    jsc: {
      target: 'es2024',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      keepClassNames: true,
    },
    module: { type: 'es6' },
  });
  const target = join(ROOT, 'dist/bench/usual-server.mjs');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code);
  return target;
}
