import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/create-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.stop());

test('a person registers, proves the address and reads the profile', async () => {
  const ann = await app.register('ann@example.org');
  const me = await app.rest('GET', '/auth/me', { token: ann.token });
  expect(me).toMatchObject({ status: 200, body: { email: 'ann@example.org', role: 'OWNER', instanceAdmin: true } });
});
