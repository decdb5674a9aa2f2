import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PASSWORD, type Person, TestApp } from '../support/create-app.ts';
import { DOORS, type Door, ThreeDoors } from '../support/three-doors.ts';

let app: TestApp;
let doors: ThreeDoors;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
});
afterAll(() => app.stop());

const update = (door: Door, { token }: Person, args: Record<string, unknown>) =>
  doors.call(door, 'Mutation.updateMe', args, { token });

test('the profile has every field of the contract and no other secret', async () => {
  const { token } = await app.register();
  const { body } = await app.rest<object>('GET', '/auth/me', { token });
  expect(Object.keys(body).sort()).toEqual(
    [
      ...['id', 'email', 'name', 'workspaceId', 'role', 'instanceAdmin', 'emailVerified', 'twoFactorEnabled'],
      ...['createdAt', 'lastLoginAt', 'version'],
    ].sort(),
  );
});

describe.each(DOORS)('at the door %s', door => {
  test('a name is set, left alone and cleared', async () => {
    const bob = await app.register();
    expect(await update(door, bob, { name: 'Bob' })).toMatchObject({ status: 200, value: { name: 'Bob', version: 2 } });
    expect(await update(door, bob, {})).toMatchObject({ value: { name: 'Bob' } });
    expect(await update(door, bob, { name: null })).toMatchObject({ value: { name: null } });
  });

  test('a new password and two-step sign-in need the current password', async () => {
    const bob = await app.register();
    const missing = { status: 400, code: 'BAD_INPUT', fields: [{ field: 'currentPassword' }] };
    const password = 'a whole new password';
    for (const wish of [{ password }, { twoFactorEnabled: true }, { twoFactorEnabled: false }]) {
      expect(await update(door, bob, wish)).toMatchObject(missing);
      expect(await update(door, bob, { ...wish, currentPassword: 'not it' })).toMatchObject(missing);
    }
    expect(await update(door, bob, { password, currentPassword: PASSWORD })).toMatchObject({ status: 200 });
    const login = (given: string) => doors.call(door, 'Mutation.login', { email: bob.email, password: given });
    expect([(await login(PASSWORD)).status, (await login(password)).status]).toEqual([401, 200]);
  });

  test('a new password ends the other sessions and keeps this one', async () => {
    const bob = await app.register();
    const body = { email: bob.email, password: bob.password };
    const other = await app.rest<{ accessToken: string }>('POST', '/auth/login', { body });
    await update(door, bob, { password: 'a whole new password', currentPassword: PASSWORD });
    expect(await app.rest('GET', '/auth/me', { token: other.body.accessToken })).toMatchObject({ status: 401 });
    expect(await app.rest('GET', '/auth/me', { token: bob.token })).toMatchObject({ status: 200 });
  });

  test.each([
    ['password', null],
    ['password', 'short'],
    ['twoFactorEnabled', null],
    ['name', ''],
    ['name', 'x'.repeat(101)],
    ['ifVersion', 0],
  ])('%s may not be %j', async (field, value) => {
    const bob = await app.register();
    const answer = await update(door, bob, { [field]: value, currentPassword: PASSWORD });
    expect(answer).toMatchObject({ status: 400, code: 'BAD_INPUT', fields: [{ field }] });
  });

  test('a change of an older version is refused', async () => {
    const bob = await app.register();
    await update(door, bob, { name: 'first' });
    expect(await update(door, bob, { name: 'second', ifVersion: 1 })).toMatchObject({
      status: 412,
      code: 'VERSION_MISMATCH',
    });
    expect(await update(door, bob, { name: 'second', ifVersion: 2 })).toMatchObject({ value: { name: 'second' } });
  });

  test('nobody makes themselves an owner, verified or another person', async () => {
    const owner = await app.register();
    const viewer = await app.join(owner, 'VIEWER');
    const fields = ['role', 'email', 'instanceAdmin', 'emailVerified', 'workspaceId', 'id'];
    for (const field of fields) {
      const body = { [field]: field === 'role' ? 'OWNER' : 'x' };
      expect(await app.rest('PATCH', '/auth/me', { token: viewer.token, body })).toMatchObject({
        status: 400,
        body: { fields: [{ field, message: 'is not a known field' }] },
      });
    }
  });
});
