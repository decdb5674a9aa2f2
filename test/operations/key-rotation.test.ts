import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { Keyring, SealBroken } from '../../src/security/keyring.ts';
import { Secret } from '../../src/security/secret.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { eventually } from '../support/eventually.ts';
import { cloneDatabase, dropDatabase } from '../support/test-database.ts';

const OLD = 'the key that everything was sealed with first';
const NEW = 'the key that is to take its place from now on';
const WRONG = 'a key that never sealed anything in this place';

/** More than are sealed anew at a time. */
const SECRETS = 700;

/** Some of the places where secrets lie. */
const COLUMNS = ['variable.value', 'deployment.variables', 'environment.hook_secret', 'custom_certificate.private_key'];

/** Nobody answers there: mails stay in the queue. */
const NO_MAIL = 'smtp://127.0.0.1:9';

let databaseUrl: string;
let ann: Person;
const places: { table: string; row: string; column: string }[] = [];

beforeAll(async () => {
  databaseUrl = await cloneDatabase();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  // The template knows the key of the other tests.
  await client.query('delete from instance');
  await client.end();
});
afterAll(() => dropDatabase(databaseUrl));

const start = (settings: Record<string, string>) => TestApp.start({ ...settings, DATABASE_URL: databaseUrl });

async function during<Result>(
  settings: Record<string, string>,
  work: (app: TestApp) => Promise<Result>,
): Promise<Result> {
  const app = await start(settings);
  return work(app).finally(() => app.stop());
}

const everything = async (app: TestApp) => ({
  answers: await app.sql<{ id: string; sealed: string }>('select id, answer as sealed from idempotent_answer'),
  instance: await app.sql<{ sealed: string }>('select key_check as sealed from instance'),
  mails: await app.sql<{ id: string; sealed: string }>(
    `select data->>'id' as id, data->>'sealed' as sealed from pgboss.job where name = 'mail.send' and state < 'completed'`,
  ),
});

const keysOf = (rows: { sealed: string }[]) => [...new Set(rows.map(({ sealed }) => sealed.split('.')[1]))];

test('secrets are sealed with the first key', async () => {
  await during({ MASTER_KEY: OLD }, async app => {
    ann = await app.register();
    const keyring = new Keyring(OLD);
    const sealed = Array.from({ length: SECRETS }, (_, index) => {
      const place = { table: 'idempotent_answer', row: randomUUIDv7(), column: 'answer' };
      places.push(place);
      return keyring.seal(`value ${index}`, place).sealed;
    });
    await app.sql(
      `insert into idempotent_answer (id, workspace_id, body_hash, answer, created_at)
       select id, $2, '', answer, now() from unnest($1::text[], $3::text[]) as given (id, answer)`,
      [places.map(({ row }) => row), ann.workspaceId, sealed],
    );
    expect(keysOf((await everything(app)).answers)).toEqual([keyring.keyId]);
  });
  // A mail that finds no server waits in the queue, sealed.
  await during({ MASTER_KEY: OLD, SMTP_URL: NO_MAIL }, async app => {
    await app.rest('POST', '/auth/forgot-password', { body: { email: ann.email } });
    await eventually(async () => (await everything(app)).mails.length > 0);
  });
});

test('a wrong key is refused at the start, and nothing is written', async () => {
  const app = await start({ MASTER_KEY: OLD, SMTP_URL: NO_MAIL });
  const before = await everything(app);
  await app.stop();
  await expect(start({ MASTER_KEY: WRONG })).rejects.toThrow(SealBroken);
  await expect(start({ MASTER_KEY: WRONG, MASTER_KEY_PREVIOUS: NEW })).rejects.toThrow(/MASTER_KEY/);
  await during({ MASTER_KEY: OLD, SMTP_URL: NO_MAIL }, async again => expect(await everything(again)).toEqual(before));
});

test('a previous key taken away before all is sealed anew is refused too', async () => {
  await during({ MASTER_KEY: OLD, SMTP_URL: NO_MAIL }, async app => {
    // As the first start with the new key leaves it, before its runs have done anything.
    const place = { table: 'instance', row: '1', column: 'key_check' };
    await app.sql('update instance set key_check = $1', [new Keyring(NEW).seal('slipway', place).sealed]);
  });
  await expect(start({ MASTER_KEY: NEW })).rejects.toThrow(SealBroken);
});

test('with MASTER_KEY_PREVIOUS everything is sealed anew, as a run of the workspace, and then goes without it', async () => {
  await during({ MASTER_KEY: NEW, MASTER_KEY_PREVIOUS: `${WRONG},${OLD}`, SMTP_URL: NO_MAIL }, async app => {
    const { body } = await eventually(async () => {
      const runs = await app.rest<{ status: string; kind: string; steps: { name: string; message: string }[] }[]>(
        'GET',
        '/runs?kind=RESEAL&status=SUCCEEDED',
        { token: ann.token },
      );
      return runs.body.length > 0 && runs;
    });
    const step = body.flatMap(({ steps }) => steps).find(({ name }) => name === 'idempotent_answer.answer');
    expect(step?.message).toBe(`${SECRETS} sealed anew`);
    expect(body.flatMap(({ steps }) => steps).map(({ name }) => name)).toEqual(expect.arrayContaining(COLUMNS));
    const { answers, instance, mails } = await everything(app);
    const { keyId } = new Keyring(NEW);
    expect([keysOf(answers), keysOf(instance), keysOf(mails)]).toEqual([[keyId], [keyId], [keyId]]);
    expect(answers).toHaveLength(SECRETS);
    await app.sql(`update pgboss.job set start_after = now() where name = 'mail.send'`);
  });
  await during({ MASTER_KEY: NEW }, async app => {
    const keyring = new Keyring(NEW);
    const rows = new Map((await everything(app)).answers.map(({ id, sealed }) => [id, sealed]));
    places.forEach((place, index) => {
      expect(keyring.open(new Secret(rows.get(place.row) ?? ''), place)).toBe(`value ${index}`);
    });
    // The mail that waited through it all goes out at last.
    expect(await app.mailbox.resetTokenFor(ann.email)).toMatch(/^[\w-]+$/);
  });
  await expect(start({ MASTER_KEY: OLD })).rejects.toThrow(SealBroken);
}, 60_000);

test('a start with previous keys and nothing to do makes no run', async () => {
  await during({ MASTER_KEY: NEW, MASTER_KEY_PREVIOUS: OLD }, async app => {
    const { body } = await app.rest<object[]>('GET', '/runs?kind=RESEAL&status=QUEUED', { token: ann.token });
    expect(body).toEqual([]);
  });
});
