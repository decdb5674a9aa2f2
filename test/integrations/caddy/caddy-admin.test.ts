import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CaddyAdmin } from '../../../src/integrations/caddy/caddy-admin.ts';
import { HttpMachine } from '../../support/http-machine.ts';

let machine: HttpMachine;
let admin: CaddyAdmin;
beforeEach(async () => {
  machine = await HttpMachine.start();
  admin = new CaddyAdmin(machine.open);
});
afterEach(async () => {
  admin.close();
  await machine.stop();
});

test('is called by the address it listens on, over a connection for each question', async () => {
  machine.on('GET /config/', machine.json(null)).on('POST /config/apps', machine.status(200));
  expect(await admin.get('/config/')).toBeNull();
  await admin.put('/config/apps', { http: {} });
  expect(machine.requests).toMatchObject([
    { headers: { host: '127.0.0.1:2019' }, body: '' },
    { headers: { host: '127.0.0.1:2019', 'content-type': 'application/json' }, body: '{"http":{}}' },
  ]);
  expect(machine.opened).toBe(2);
});

test.each([
  ['that is not there', 404, 'key does not exist'],
  ['that leads nowhere', 400, 'invalid traversal path at: config/apps/http'],
])('a path %s is null when it is read, and fine when it is removed', async (_, status, error) => {
  machine.on('GET /config/x', machine.json({ error }, status)).on('DELETE /config/x', machine.json({ error }, status));
  expect(await admin.get('/config/x')).toBeNull();
  expect(await admin.remove('/config/x')).toBeUndefined();
});

test('what it makes only once it says', async () => {
  machine.on('PUT /config/apps/http', machine.status(200));
  expect(await admin.create('/config/apps/http', {})).toBe(true);
  machine.on('PUT /config/apps/http', machine.json({ error: 'key already exists: http' }, 409));
  expect(await admin.create('/config/apps/http', {})).toBe(false);
});

test('a refusal is told in its own words', async () => {
  machine.on('POST /config/apps', machine.json({ error: 'listen tcp :80: bind: address already in use' }, 500));
  const refused = admin.put('/config/apps', {});
  await expect(refused).rejects.toMatchObject({ status: 500, message: expect.stringContaining('already in use') });
});
