import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { PretendedServer } from '../support/pretended-server.ts';
import { ServerBench } from '../support/servers.ts';
import { SseClient } from '../support/sse-client.ts';
import { makePrivateKey } from '../support/ssh-keys.ts';

interface Look {
  score: number;
  grade: string;
  checkedAt: string;
  checks: { id: string; status: string; fixable: boolean; hint: string | null }[];
}

interface Plan {
  planId: string;
  actions: { name: string; checks: string[]; commands: string[] }[];
  notes: string[];
  runId: string | null;
  run: { id: string } | null;
}

const privateKey = makePrivateKey();

let bench: ServerBench;
let server: PretendedServer;
let id: string;
beforeAll(async () => {
  bench = await ServerBench.start();
});
afterAll(() => bench.stop());

beforeEach(async () => {
  server = await PretendedServer.start();
  id = (await bench.add({ name: 'web', ...server.place, privateKey })).body.id;
});
afterEach(() => server.stop());

const ask = <Body>(method: 'GET' | 'POST', path: string, body?: object) =>
  bench.app.rest<Body>(method, `/servers/${id}/security${path}`, { token: bench.ann.token, ...(body ? { body } : {}) });

const looked = () =>
  eventually(async () => {
    const { status, body } = await ask<Look>('GET', '');
    return status === 200 ? body : undefined;
  });

const dryRun = async (wish: object = {}): Promise<Plan> => {
  const answer = await ask<Plan>('POST', '/harden', { dryRun: true, ...wish });
  expect(answer.status).toBe(200);
  return answer.body;
};

describe('a look', () => {
  test('is taken when a server is added, and told', async () => {
    const look = await looked();
    expect(look.score).toBeLessThan(65);
    expect(look.checks.find(({ id: name }) => name === 'firewall')).toMatchObject({ status: 'FAIL', fixable: true });
    expect((await bench.get(id)) as object).toMatchObject({
      security: { score: look.score, checkedAt: look.checkedAt },
    });
    expect(server.said).toBe('');
  });

  test('is a run when somebody asks for it, and ends with an event', async () => {
    await looked();
    const { token } = bench.ann;
    const events = await SseClient.open(`${bench.app.url}/api/v1/events?kinds=server_updated`, { token });
    server.answerAs('debian-12-hardened');
    const asked = await ask<{ id: string }>('POST', '/check');
    expect(asked).toMatchObject({ status: 202, body: { kind: 'CHECK_SECURITY', subject: `Server:${id}` } });
    expect(asked.headers.get('location')).toMatch(new RegExp(`/runs/${asked.body.id}$`));
    expect(await bench.ended(`/runs/${asked.body.id}`)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await looked()).toMatchObject({ grade: 'A' });
    const told = await events.next();
    expect(JSON.parse(told?.data ?? '')).toMatchObject({ resourceId: id, data: { security: { score: 96 } } });
  });

  test('of a server that nobody has reached yet is not there', async () => {
    const place = { name: 'away', host: '127.0.0.1', port: 1, username: 'deploy', privateKey };
    id = (await bench.add(place)).body.id;
    expect(await ask('GET', '')).toMatchObject({ status: 404 });
    const { body } = await ask<{ id: string }>('POST', '/check');
    expect(await bench.ended(`/runs/${body.id}`)).toMatchObject({
      status: 'FAILED',
      error: { code: 'SERVER_UNREACHABLE' },
    });
    expect(await ask('POST', '/harden', { dryRun: true })).toMatchObject({
      status: 502,
      body: { code: 'SERVER_UNREACHABLE' },
    });
  });
});

describe('hardening', () => {
  test('is told by a dry run, done as it was told, and has nothing to do the second time', async () => {
    const plan = await dryRun();
    expect(plan).toMatchObject({ runId: null, run: null });
    expect(plan.actions.map(({ name }) => name)).toEqual([
      'packages',
      'accounts',
      'kernel',
      'upkeep',
      'fail2ban',
      'ssh',
      'firewall',
    ]);
    expect(server.said).toBe('');

    const started = await ask<{ id: string }>('POST', '/harden', { planId: plan.planId });
    expect(started).toMatchObject({ status: 202, body: { kind: 'HARDEN_SERVER', subject: `Server:${id}` } });
    expect(started.headers.get('location')).toMatch(new RegExp(`/runs/${started.body.id}$`));
    const run = await bench.ended(`/runs/${started.body.id}`);
    expect(run).toMatchObject({ status: 'SUCCEEDED', error: null });
    expect(run.steps.map(({ name }) => name)).toEqual(STEPS);
    for (const [command] of plan.actions.map(({ commands }) => commands))
      expect(server.said).toContain(command?.split(' > /dev/null')[0]);
    expect(await looked()).toMatchObject({ grade: 'A', score: 96 });
    expect(await dryRun()).toMatchObject({ actions: [], notes: [] });
    const history = await bench.app.rest('GET', '/runs?kind=HARDEN_SERVER', { token: bench.ann.token });
    expect(history.body).toMatchObject([{ id: started.body.id, subject: `Server:${id}` }]);
  });

  test('is refused if the server changed since', async () => {
    const { planId } = await dryRun();
    server.answer('docker-ports', 'db|0.0.0.0:5432->5432/tcp');
    expect(await ask('POST', '/harden', { planId })).toMatchObject({ status: 409, body: { code: 'PLAN_OUTDATED' } });
    const { planId: other } = await dryRun({ allowPorts: [5432] });
    expect(await ask('POST', '/harden', { planId: other })).toMatchObject({ status: 409 });
    expect(server.said).toBe('');
  });

  test('is refused on other systems, and nothing is said to them', async () => {
    server.answer('os', 'ID=fedora\nVERSION_ID=42\nPRETTY_NAME="Fedora Linux 42"');
    for (const body of [{}, { dryRun: true }])
      expect(await ask('POST', '/harden', body)).toMatchObject({ status: 409, body: { code: 'UNSUPPORTED_OS' } });
    expect(server.said).toBe('');
  });

  test('mends what it is asked for', async () => {
    const plan = await dryRun({ checks: ['fail2ban', 'ssh-file-modes'] });
    expect(plan.actions.map(({ name }) => name)).toEqual(['packages', 'fail2ban']);
  });

  test.each([
    ['a port that is none', { allowPorts: [0] }, 'allowPorts'],
    ['a port beyond the last', { allowPorts: [65_536] }, 'allowPorts'],
    ['a port that is a command', { allowPorts: ['22; reboot'] }, 'allowPorts'],
    ['a check that is none', { checks: ['everything'] }, 'checks'],
    ['a plan that is none', { planId: 'x' }, 'planId'],
  ])('refuses %s', async (_, body, field) => {
    const answer = await ask<{ fields: { field: string }[] }>('POST', '/harden', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'BAD_INPUT' } });
    expect(JSON.stringify(answer.body)).toContain(field);
  });
});

const STEPS = [
  ...['look', 'packages', 'arm', 'accounts', 'file modes', 'docker socket', 'kernel', 'upkeep', 'time', 'fail2ban'],
  ...['ssh', 'firewall', 'prove', 'disarm', 'look again'],
];
