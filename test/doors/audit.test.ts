import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { DOORS, ThreeDoors } from '../support/three-doors.ts';

interface Entry {
  id: string;
  at: string;
  actor: string | null;
  tokenId: string | null;
  ip: string | null;
  action: string;
  resource: string | null;
  outcome: string;
  requestId: string | null;
}

let app: TestApp;
let doors: ThreeDoors;
let owner: Person;
let viewer: Person;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
  owner = await app.register();
  viewer = await app.join(owner, 'VIEWER');
});
afterAll(() => app.stop());

describe.each(DOORS)('at the door %s', door => {
  const audit = async (args: Record<string, unknown> = {}) =>
    (await doors.call(door, 'Query.audit', args, { token: viewer.token })).value as Entry[];

  test('a change leaves an entry with who, by what, from where and under which request', async () => {
    const made = await doors.call(
      'rest',
      'Mutation.createApiToken',
      { name: 'x', scope: 'write' },
      { token: owner.token },
    );
    const { id: tokenId, token } = made.value as { id: string; token: string };
    const headers = { 'x-request-id': `audit-${door}` };
    const args = { email: `guest-${door}@example.org`, role: 'VIEWER' };
    const done = await doors.call(door, 'Mutation.createInvitation', args, { token, headers });
    const [entry] = await audit({ limit: 1 });
    expect(entry).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: expect.stringMatching(/Z$/),
      actor: owner.id,
      tokenId,
      ip: '127.0.0.1',
      action: 'createInvitation',
      resource: `Invitation:${(done.value as { id: string }).id}`,
      outcome: 'DONE',
      requestId: `audit-${door}`,
      ...(door === 'rest' ? {} : { actorUser: expect.objectContaining({ id: owner.id }) }),
    });
    const { value } = await doors.call(door, 'Query.auditEntry', { id: entry?.id }, { token: viewer.token });
    expect(value).toEqual(entry);
  });

  test('a denial leaves one too, and what failed leaves none', async () => {
    const headers = { 'x-request-id': `denied-${door}` };
    await doors.call(
      door,
      'Mutation.createInvitation',
      { email: 'x@example.org', role: 'VIEWER' },
      { token: viewer.token, headers },
    );
    const [entry] = await audit({ limit: 1, actor: viewer.id });
    expect(entry).toMatchObject({
      action: 'createInvitation',
      outcome: 'DENIED',
      requestId: `denied-${door}`,
      resource: null,
    });
    const before = (await audit({ limit: 1 }))[0]?.id;
    await doors.call(
      door,
      'Mutation.createInvitation',
      { email: 'no address', role: 'VIEWER' },
      { token: owner.token },
    );
    await doors.call(door, 'Mutation.deleteMember', { id: owner.id }, { token: owner.token });
    expect((await audit({ limit: 1 }))[0]?.id).toBe(before);
  });

  test('it is read by who did it and by what it was done to', async () => {
    const byViewer = await audit({ actor: viewer.id, limit: 100 });
    expect(byViewer.length).toBeGreaterThan(0);
    expect(new Set(byViewer.map(({ actor }) => actor))).toEqual(new Set([viewer.id]));
    const ofViewer = await audit({ resource: `User:${viewer.id}` });
    expect(ofViewer.map(({ action }) => action)).toEqual(expect.arrayContaining(['register']));
  });
});

test('entries are only ever added: the database itself refuses to change or delete one', async () => {
  const [entry] = await app.sql<{ id: string }>('select id from audit_entry limit 1');
  await expect(app.sql(`update audit_entry set action = 'x' where id = $1`, [entry?.id])).rejects.toThrow(
    /append-only/,
  );
  await expect(app.sql('delete from audit_entry where id = $1', [entry?.id])).rejects.toThrow(/append-only/);
});
