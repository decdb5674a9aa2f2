import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { Gate, JobBench } from '../support/job-bench.ts';
import { cloneDatabase, dropDatabase } from '../support/test-database.ts';

let databaseUrl: string;
let benches: JobBench[] = [];
beforeAll(async () => {
  databaseUrl = await cloneDatabase();
});
afterEach(async () => {
  for (const bench of benches) await bench.stop();
  benches = [];
});
afterAll(() => dropDatabase(databaseUrl));

async function start(handlers: Parameters<typeof JobBench.start>[1]): Promise<JobBench> {
  const bench = await JobBench.start(databaseUrl, handlers);
  benches.push(bench);
  return bench;
}

const lane = (projectId: string) => ({ lane: projectId });
const job = (projectId: string, runId: string) => ({ projectId, runId });

describe('a job', () => {
  test('exists if the change that wanted it was committed, and not before', async () => {
    const gate = new Gate<'password.forgot'>();
    const bench = await start({ 'password.forgot': gate.handle });
    await bench.change(async unit => {
      await bench.queue.enqueue(unit, 'password.forgot', { email: 'wanted' });
      expect(await bench.sql(`select 1 from pgboss.job where data->>'email' = 'wanted'`)).toEqual([]);
    });
    expect((await gate.at(0)).payload).toEqual({ email: 'wanted' });
    gate.taken[0]?.open();
  });

  test('does not exist if the change was taken back', async () => {
    const gate = new Gate<'password.forgot'>();
    const bench = await start({ 'password.forgot': gate.handle });
    const undone = bench.change(async unit => {
      await bench.queue.enqueue(unit, 'password.forgot', { email: 'unwanted' });
      throw new Error('the last moment');
    });
    await expect(undone).rejects.toThrow('the last moment');
    await bench.send('password.forgot', { email: 'next' });
    expect((await gate.at(0)).payload).toEqual({ email: 'next' });
    gate.taken[0]?.open();
    expect(await bench.sql(`select 1 from pgboss.job where data->>'email' = 'unwanted'`)).toEqual([]);
  });

  test('that fails is tried again after a while, as often as its rule says, and knows its last try', async () => {
    const gate = new Gate<'password.forgot'>();
    const bench = await start({ 'password.forgot': gate.handle });
    await bench.send('password.forgot', { email: 'often' });
    for (let attempt = 0; attempt <= 3; attempt += 1) {
      const taken = await gate.at(attempt);
      expect(taken.context).toMatchObject({ attempt, isLastTry: attempt === 3 });
      taken.fail();
      const [row] = await eventually(() => tried(bench, attempt === 3 ? 'failed' : 'retry', attempt));
      if (attempt === 3) break;
      expect(row?.delay).toBeGreaterThan(2 ** attempt - 0.5);
      // Nobody waits that long in a test: it is due now, and somebody rings.
      await bench.sql('update pgboss.job set start_after = now() where id = $1', [row?.id]);
      await bench.sql(RING);
    }
  });

  test('of many is not left lying: whoever has done one takes the next at once', async () => {
    const done: string[] = [];
    const bench = await start({ 'mail.send': async ({ id }) => void done.push(id) });
    const startedAt = performance.now();
    await bench.change(async unit => {
      for (let id = 0; id < 200; id += 1) await bench.queue.enqueue(unit, 'mail.send', { id: `${id}`, sealed: '' });
    });
    await eventually(() => done.length === 200);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(new Set(done).size).toBe(200);
  });
});

const RING = `select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), 'password.forgot')`;

async function tried(bench: JobBench, state: string, attempt: number) {
  const rows = await bench.sql<{ id: string; delay: number }>(
    `select id, extract(epoch from start_after - now())::float as delay from pgboss.job
     where data->>'email' = 'often' and state = $1::pgboss.job_state and retry_count = $2`,
    [state, attempt],
  );
  return rows.length > 0 && rows;
}

describe('lanes', () => {
  test('jobs of one lane run one at a time and in order, on two instances too; other lanes do not wait for them', async () => {
    const gate = new Gate<'project.delete'>();
    const bench = await start({ 'project.delete': gate.handle });
    await start({ 'project.delete': gate.handle });
    await bench.send('project.delete', job('a', '1'), lane('a'));
    await gate.at(0);
    await bench.send('project.delete', job('a', '2'), lane('a'));
    await bench.send('project.delete', job('a', '3'), lane('a'));
    await bench.send('project.delete', job('b', '4'), lane('b'));
    await gate.at(1);
    expect(gate.taken.map(({ payload }) => payload.runId)).toEqual(['1', '4']);
    for (const { open } of [...gate.taken]) open();
    (await gate.at(2)).open();
    (await gate.at(3)).open();
    expect(gate.taken.map(({ payload }) => payload.runId)).toEqual(['1', '4', '2', '3']);
  });

  test('never two of a lane at once, however many workers grab for them', async () => {
    const running = new Map<string, number>();
    let most = 0;
    const done: Record<string, string[]> = {};
    const handle = async ({ projectId, runId }: { projectId: string; runId: string }) => {
      const now = (running.get(projectId) ?? 0) + 1;
      running.set(projectId, now);
      most = Math.max(most, now);
      await new Promise(resolve => setImmediate(resolve));
      running.set(projectId, (running.get(projectId) ?? 1) - 1);
      done[projectId] = [...(done[projectId] ?? []), runId];
    };
    const handlers = { 'project.delete': handle };
    const [bench] = [await start(handlers), await start(handlers), await start(handlers)];
    for (let index = 0; index < 60; index += 1) {
      const name = `lane ${index % 5}`;
      await bench.send('project.delete', job(name, `${index}`), lane(name));
    }
    await eventually(() => Object.values(done).flat().length === 60);
    expect(most).toBe(1);
    for (const runIds of Object.values(done)) {
      expect(runIds.map(Number)).toEqual(runIds.map(Number).toSorted((a, b) => a - b));
    }
  });

  test('a job that failed does not hold up its lane', async () => {
    const gate = new Gate<'project.delete'>();
    const bench = await start({ 'project.delete': gate.handle });
    await bench.send('project.delete', job('c', 'bad'), lane('c'));
    (await gate.at(0)).fail();
    await bench.send('project.delete', job('c', 'good'), lane('c'));
    const next = await gate.at(1);
    expect(next.payload.runId).toBe('good');
    next.open();
    const again = await gate.at(2);
    expect([again.payload.runId, again.context.attempt]).toEqual(['bad', 1]);
    again.open();
  });
});

test('what the clock sends is scheduled once, however many instances there are', async () => {
  const bench = await start({});
  await start({});
  const schedules = await bench.queue.boss.getSchedules();
  expect(schedules.map(({ name, cron, timezone }) => [name, cron, timezone]).sort()).toEqual([
    ['apps.watch', '* * * * *', 'UTC'],
    ['deployments.sweep', '* * * * *', 'UTC'],
    ['git.check', '41 */6 * * *', 'UTC'],
    ['git.poll', '* * * * *', 'UTC'],
    ['rows.prune', '17 * * * *', 'UTC'],
    ['servers.look-security', '29 * * * *', 'UTC'],
    ['servers.watch', '* * * * *', 'UTC'],
  ]);
});
