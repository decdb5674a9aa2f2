import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DAY, HOUR } from '../../src/clock.ts';
import { HousekeepingService } from '../../src/services/housekeeping.service.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { later } from '../support/moved-clock.ts';
import { tellRuns } from '../support/runs.ts';

const KEEP = { keepEventsMs: 30 * DAY, keepLogsMs: 90 * DAY, keepAuditMs: 365 * DAY };
const TABLES = [
  'idempotent_answer',
  'rate_counter',
  'one_time_code',
  'password_reset',
  'invitation',
  'event',
  'session',
  'audit_entry',
] as const;
type Counts = Record<(typeof TABLES)[number], number>;

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start({ RATE_LIMIT: '1000/1m' });
  ann = await app.register();
  await leaveTraces();
});
afterAll(() => app.stop());

/** A row for the broom in every table it sweeps, and beside it one that has to stay. */
async function leaveTraces(): Promise<void> {
  const { token, email, password } = ann;
  const again = await app.rest<{ accessToken: string }>('POST', '/auth/login', { body: { email, password } });
  await app.rest('POST', '/auth/logout', { token: again.body.accessToken });
  await app.rest('POST', '/auth/forgot-password', { body: { email } });
  await app.mailbox.resetTokenFor(email);
  const headers = { 'idempotency-key': 'once' };
  await app.rest('POST', '/members/invitations', { token, headers, body: { email: 'a@example.org', role: 'VIEWER' } });
  await tellRuns(app, ann.workspaceId, 3);
}

async function counts(): Promise<Counts> {
  const columns = TABLES.map(table => `(select count(*)::int from ${table}) as ${table}`);
  const [row] = await app.sql<Counts>(`select ${columns.join(', ')}`);
  if (row === undefined) throw new Error('nothing was counted');
  return row;
}

const sweepAfter = (milliseconds: number) =>
  later(milliseconds, () => new HousekeepingService(app.app.database.orm.em, KEEP).prune(new AbortController().signal));

test('rows are kept as long as they are promised and no longer, one table after the other', async () => {
  const all = await counts();
  expect(Object.entries(all).filter(([, count]) => count === 0)).toEqual([]);
  await sweepAfter(23 * HOUR);
  expect(await counts()).toEqual(all);

  await sweepAfter(2 * DAY);
  const afterTwoDays = { ...all, idempotent_answer: 0, rate_counter: 0, one_time_code: 0, password_reset: 0 };
  expect(await counts()).toEqual(afterTwoDays);

  await sweepAfter(29 * DAY);
  expect(await counts()).toEqual(afterTwoDays);

  // The last event of what is swept stays: whoever resumes behind it misses nothing.
  await sweepAfter(31 * DAY);
  expect(await counts()).toEqual({ ...afterTwoDays, event: 1 });

  await sweepAfter(38 * DAY);
  expect(await counts()).toEqual({ ...afterTwoDays, event: 1, invitation: 0 });

  // One was signed out, the other still holds.
  await sweepAfter(91 * DAY);
  expect(await counts()).toEqual({ ...afterTwoDays, event: 1, invitation: 0, session: 1 });

  await sweepAfter(364 * DAY);
  expect((await counts()).audit_entry).toBe(all.audit_entry);
  await sweepAfter(366 * DAY);
  expect((await counts()).audit_entry).toBe(0);
});

test('accounts, workspaces and runs are nobody’s to sweep', async () => {
  expect(await app.rest('GET', '/auth/me', { token: ann.token })).toMatchObject({ status: 200, body: { id: ann.id } });
  expect((await app.rest<unknown[]>('GET', '/runs', { token: ann.token })).body).toHaveLength(3);
});

test('a sweep that is told to stop leaves the rest for the next', async () => {
  await tellRuns(app, ann.workspaceId, 2);
  const stopped = AbortSignal.abort();
  await later(400 * DAY, () => new HousekeepingService(app.app.database.orm.em, KEEP).prune(stopped));
  expect((await counts()).event).toBe(3);
});
