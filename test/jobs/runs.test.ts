import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RunEngine, type Step, type Try } from '../../src/engine/run.engine.ts';
import { DomainError } from '../../src/errors.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { tellRuns } from '../support/runs.ts';
import { silentLog } from '../support/settings.ts';
import { SseClient } from '../support/sse-client.ts';

let app: TestApp;
let ann: Person;
const logged: { context: object; message: string }[] = [];
beforeAll(async () => {
  app = await TestApp.start();
  ann = await app.register();
});
afterAll(() => app.stop());

interface RunBody {
  id: string;
  status: string;
  steps: { name: string; status: string; message: string | null; startedAt: string; finishedAt: string | null }[];
  error: { code: string; message: string } | null;
  startedAt: string | null;
  finishedAt: string | null;
  version: number;
}

interface Told {
  action: string;
  data: RunBody;
}

const log = {
  info: silentLog.info.bind(silentLog),
  error: (context: object, message: string) => void logged.push({ context, message }),
};

const perform = (runId: string, steps: Step[], context: Partial<Try> = {}) => {
  const wish = { signal: new AbortController().signal, isLastTry: false, ...context };
  return new RunEngine(app.app.database.orm.em, log).perform(runId, wish, () => steps);
};

const step = (name: string, run: Step['run'] = async () => `${name} done`): Step => ({ name, run });

const start = async () => (await tellRuns(app, ann.workspaceId, 1))[0] ?? '';
const read = async (id: string, token = ann.token) => app.rest<RunBody>('GET', `/runs/${id}`, { token });
const listen = () => SseClient.open(`${app.url}/api/v1/events?kinds=run_updated`, { token: ann.token });

describe('a run', () => {
  test('goes from QUEUED through its steps to SUCCEEDED, and each change is told as it becomes true', async () => {
    const reader = await listen();
    const id = await start();
    await perform(id, [step('first'), step('second', async () => null)]);
    const told = await reader.read<Told>(7);
    const states = told.map(({ action, data }) => [
      action,
      data.status,
      data.steps.map(({ name, status }) => `${name} ${status}`).join(', '),
    ]);
    expect(states).toEqual([
      ['CREATED', 'QUEUED', ''],
      ['UPDATED', 'RUNNING', ''],
      ['UPDATED', 'RUNNING', 'first RUNNING'],
      ['UPDATED', 'RUNNING', 'first SUCCEEDED'],
      ['UPDATED', 'RUNNING', 'first SUCCEEDED, second RUNNING'],
      ['UPDATED', 'RUNNING', 'first SUCCEEDED, second SUCCEEDED'],
      ['UPDATED', 'SUCCEEDED', 'first SUCCEEDED, second SUCCEEDED'],
    ]);
    const { body, headers } = await read(id);
    expect(body).toEqual(told.at(-1)?.data);
    expect(body.finishedAt).not.toBeNull();
    // A change of status is no change of configuration.
    expect(headers.get('etag')).toBe('"1"');
    await reader.cut();
  });

  test('that fails for a reason we foresaw says so, and leaves later steps alone', async () => {
    const id = await start();
    const fail = async () => Promise.reject(new DomainError('CONFLICT', 'The disk is full'));
    await perform(id, [step('first'), step('second', fail), step('third')]);
    const { body } = await read(id);
    expect(body).toMatchObject({ status: 'FAILED', error: { code: 'CONFLICT', message: 'The disk is full' } });
    expect(body.steps.map(({ name, status }) => [name, status])).toEqual([
      ['first', 'SUCCEEDED'],
      ['second', 'FAILED'],
    ]);
  });

  test('that fails unforeseen tells nothing of the inside; the log has it, under the id of the run', async () => {
    const id = await start();
    await perform(id, [step('first', async () => Promise.reject(new Error('secret path /srv/x')))]);
    const { body } = await read(id);
    expect(body).toMatchObject({ status: 'FAILED', error: { code: 'INTERNAL' } });
    expect(JSON.stringify(body)).not.toContain('/srv/x');
    expect(logged).toContainEqual({
      context: { runId: id, err: expect.objectContaining({ message: 'secret path /srv/x' }) },
      message: 'A run failed',
    });
  });

  test('goes on behind the steps that were done when its worker was asked to stop', async () => {
    const id = await start();
    const stopping = new AbortController();
    const done: string[] = [];
    const note = (name: string) => step(name, async () => `${done.push(name)}`);
    const stop = step('second', async signal => {
      stopping.abort();
      signal.throwIfAborted();
      return null;
    });
    await expect(perform(id, [note('first'), stop], { signal: stopping.signal })).rejects.toThrow();
    expect((await read(id)).body.status).toBe('RUNNING');
    await perform(id, [note('first'), note('second')]);
    expect(done).toEqual(['first', 'second']);
    expect((await read(id)).body.status).toBe('SUCCEEDED');
  });

  test('waits for a database that is away instead of failing', async () => {
    const id = await start();
    const away = Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
    await expect(perform(id, [step('first', () => Promise.reject(away))])).rejects.toBe(away);
    expect((await read(id)).body.status).toBe('RUNNING');
    await perform(id, [step('first')]);
    expect((await read(id)).body.status).toBe('SUCCEEDED');
  });

  test('whose workers died every time is given up at the last try, not left RUNNING for ever', async () => {
    const id = await start();
    await perform(id, [step('first')], { isLastTry: true });
    const { body } = await read(id);
    expect(body).toMatchObject({ status: 'FAILED', steps: [], error: { code: 'INTERNAL' } });
  });

  test('that somebody else took over is left to them', async () => {
    const id = await start();
    const steps = [
      step('first', async () => {
        await app.sql('update run set fence = fence + 1 where id = $1', [id]);
        return 'too late';
      }),
      step('second'),
    ];
    await perform(id, steps);
    const { body } = await read(id);
    expect(body.status).toBe('RUNNING');
    expect(body.steps).toMatchObject([{ name: 'first', status: 'RUNNING', message: null }]);
  });
});

describe('POST /runs/:id/cancel', () => {
  const cancel = (id: string, token = ann.token) => app.rest<RunBody>('POST', `/runs/${id}/cancel`, { token });

  test('cancels what has not begun; a worker that comes later leaves it alone', async () => {
    const id = await start();
    expect(await cancel(id)).toMatchObject({ status: 200, body: { status: 'CANCELLED' } });
    const done: string[] = [];
    await perform(id, [step('first', async () => `${done.push('first')}`)]);
    expect(done).toEqual([]);
    expect((await read(id)).body).toMatchObject({ status: 'CANCELLED', finishedAt: expect.any(String) });
    expect(await cancel(id)).toMatchObject({ status: 409, body: { code: 'RUN_FINISHED' } });
  });

  test('refuses what has begun', async () => {
    const id = await start();
    let answer: Awaited<ReturnType<typeof cancel>> | undefined;
    const ask = async () => {
      answer = await cancel(id);
      return null;
    };
    await perform(id, [step('first', ask)]);
    expect(answer).toMatchObject({ status: 409, body: { code: 'RUN_FINISHED' } });
    expect((await read(id)).body.status).toBe('SUCCEEDED');
  });

  test('of the same moment as its beginning has one outcome', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await start();
      const [answer] = await Promise.all([cancel(id), perform(id, [step('first')])]);
      const { body } = await read(id);
      expect([answer.status, body.status]).toEqual(answer.status === 200 ? [200, 'CANCELLED'] : [409, 'SUCCEEDED']);
    }
  });

  test('is not for viewers, and a run of others is not there at all', async () => {
    const id = await start();
    const viewer = await app.join(ann, 'VIEWER');
    expect((await cancel(id, viewer.token)).status).toBe(403);
    expect((await read(id, viewer.token)).status).toBe(200);
    const bob = await app.register();
    expect((await cancel(id, bob.token)).status).toBe(404);
    expect((await read(id, bob.token)).status).toBe(404);
    expect((await read(id)).body.status).toBe('QUEUED');
  });
});

test('GET /runs lists them newest first, by kind and status', async () => {
  const eve = await app.register();
  const ids = await tellRuns(app, eve.workspaceId, 3);
  await app.rest('POST', `/runs/${ids[1]}/cancel`, { token: eve.token });
  const list = async (query: string) =>
    (await app.rest<RunBody[]>('GET', `/runs${query}`, { token: eve.token })).body.map(({ id }) => id);
  expect(await list('')).toEqual(ids.toReversed());
  expect(await list('?status=CANCELLED')).toEqual([ids[1]]);
  expect(await list('?kind=RESEAL&status=QUEUED&limit=1')).toEqual([ids[2]]);
});
