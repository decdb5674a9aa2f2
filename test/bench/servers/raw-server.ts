/**
 * The yardstick: what is left when the same answers are given by node:http and pg alone. It verifies a token once and asks
 * for its session once, as the service does, runs the same prepared statements on a pool of the same size, and writes the
 * same JSON with its type, its length, a request id and the link to the next page. With COUNT=on it counts each request by
 * the service's own statement. It knows two routes and two operations by heart, and checks no input.
 */
import { randomUUIDv7 } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import { rowTypes } from '../../../src/database/row-types.ts';
import { hashes, queries } from '../support/operations.ts';

interface Caller {
  userId: string;
  workspaceId: string;
}

const COLUMNS =
  'id, at, actor, token_id as "tokenId", ip, action, resource, outcome, request_id as "requestId" from audit_entry';
const LIST = `select ${COLUMNS} where workspace_id = $1 order by id desc limit $2`;
const ONE = `select ${COLUMNS} where id = $1 and workspace_id = $2 limit 1`;
const SESSION = `select u.id as "userId", u.workspace_id as "workspaceId" from session s join users u on u.id = s.user_id
where s.id = $1 and s.ended_at is null and u.email_verified`;
const COUNT = `
insert into rate_counter as counter (key, hits, resets_at)
select key, 1, $3::timestamptz from unnest($1::text[]) as key order by key
on conflict (key) do update set
  hits = case when counter.resets_at <= $2 then 1 else counter.hits + 1 end,
  resets_at = case when counter.resets_at <= $2 then $3 else counter.resets_at end
returning key, hits, resets_at as "resetsAt"`;
const WINDOW_MS = 60_000;
const LIMIT = 100_000_000;

const { DATABASE_URL = '', JWT_SECRET = '', PORT = '0' } = process.env;
const isCounting = process.env.COUNT === 'on';
const pool = new pg.Pool({ connectionString: DATABASE_URL, options: '-c timezone=UTC', max: 10 });
const verified = new Map<string, { sid: string; exp: number }>();
const sessions = new Map<string, Caller>();

createServer((request, response) => {
  serve(request, response).catch((error: unknown) => {
    console.error(error);
    response.writeHead(500).end();
  });
}).listen(Number(PORT), '127.0.0.1');

process.once('SIGTERM', () => process.exit(0));

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('X-Request-Id', randomUUIDv7());
  const caller = await identify(request.headers.authorization ?? '');
  if (isCounting) await count(caller, response);
  const { url = '' } = request;
  if (url === '/graphql') return answerOperation(request, response, caller);
  if (url === '/api/v1/audit') return answerList(response, caller);
  const entry = await one(caller, url.slice('/api/v1/audit/'.length));
  send(response, JSON.stringify(entry));
}

async function answerList(response: ServerResponse, caller: Caller): Promise<void> {
  const rows = await list(caller, 50 + 1);
  if (rows.length > 50) {
    rows.length = 50;
    response.setHeader('Link', `</api/v1/audit?after=${rows[49]?.id}>; rel="next"`);
  }
  send(response, JSON.stringify(rows));
}

async function answerOperation(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void> {
  const { query, variables, extensions } = JSON.parse(await bodyOf(request));
  const hash = extensions?.persistedQuery?.sha256Hash;
  if (query === queries.list || hash === hashes.list) {
    const audit = await list(caller, variables.limit + 1);
    audit.length = Math.min(audit.length, variables.limit);
    send(response, JSON.stringify({ data: { audit } }));
  } else {
    send(response, JSON.stringify({ data: { auditEntry: await one(caller, variables.id) } }));
  }
}

async function identify(authorization: string): Promise<Caller> {
  const token = authorization.slice('Bearer '.length);
  let claims = verified.get(token);
  if (claims === undefined) {
    claims = jwt.verify(token, JWT_SECRET) as { sid: string; exp: number };
    verified.set(token, claims);
  }
  if (claims.exp * 1000 <= Date.now()) throw new Error('expired');
  return sessions.get(claims.sid) ?? lookUp(claims.sid);
}

async function lookUp(sid: string): Promise<Caller> {
  const [caller] = await query<Caller>('session', SESSION, [sid]);
  if (caller === undefined) throw new Error('no session');
  sessions.set(sid, caller);
  return caller;
}

async function count({ userId }: Caller, response: ServerResponse): Promise<void> {
  const now = new Date();
  const key = `general:user:${userId}`;
  const values = [[key], now, new Date(now.getTime() + WINDOW_MS)];
  const [counter] = await query<{ hits: number; resetsAt: string }>('count', COUNT, values);
  if (counter === undefined || counter.hits > LIMIT) throw new Error('too many');
  const seconds = Math.ceil((Date.parse(counter.resetsAt) - now.getTime()) / 1000);
  response.setHeader('RateLimit-Policy', `"general"; q=${LIMIT}; w=${WINDOW_MS / 1000}`);
  response.setHeader('RateLimit', `"general"; r=${LIMIT - counter.hits}; t=${seconds}`);
}

const list = (caller: Caller, limit: number) => query<{ id: string }>('list', LIST, [caller.workspaceId, limit]);

async function one(caller: Caller, id: string): Promise<object | undefined> {
  const [row] = await query('one', ONE, [id, caller.workspaceId]);
  return row;
}

async function query<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
  return (await pool.query<Row>({ name, text, values, types: rowTypes })).rows;
}

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request
      .on('data', chunk => chunks.push(chunk))
      .on('end', () => resolve(Buffer.concat(chunks).toString()))
      .on('error', reject);
  });
}

function send(response: ServerResponse, body: string): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}
