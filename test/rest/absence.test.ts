import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  ann = await app.register();
});
afterAll(() => app.stop());

test.each(['twoFactorEnabled', 'password', 'currentPassword'])('%s may be left out but not be null', async field => {
  const body = { currentPassword: ann.password, [field]: null };
  const answer = await app.rest('PATCH', '/auth/me', { token: ann.token, body });
  const fields = [{ field, message: expect.stringContaining('null') }];
  expect(answer).toMatchObject({ status: 400, body: { code: 'BAD_INPUT', fields } });
});

test('null clears a name, and what is left out stays', async () => {
  const named = await app.rest('PATCH', '/auth/me', { token: ann.token, body: { name: 'Ann' } });
  const untouched = await app.rest('PATCH', '/auth/me', { token: ann.token, body: {} });
  const cleared = await app.rest('PATCH', '/auth/me', { token: ann.token, body: { name: null } });
  expect([named, untouched, cleared]).toMatchObject(
    ['Ann', 'Ann', null].map(name => ({ status: 200, body: { name } })),
  );
});

test('a value that is no choice of an enum is told by the name of its variable', async () => {
  const query = 'query($status: RunStatus) { runs(status: $status) { id } }';
  const answer = await app.graphql(query, { status: 'BROKEN' }, ann.token);
  expect(answer.errors).toMatchObject([{ extensions: { code: 'BAD_INPUT', fields: [{ field: 'status' }] } }]);
});
