import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DAY } from '../../src/clock.ts';
import { PASSWORD, type Person, TestApp } from '../support/create-app.ts';
import { later } from '../support/moved-clock.ts';
import { DOORS, type Door, ThreeDoors } from '../support/three-doors.ts';

let app: TestApp;
let doors: ThreeDoors;
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
});
afterAll(() => app.stop());

let serial = 0;
const freshEmail = () => `guest-${++serial}@example.org`;
const idOf = (value: unknown) => (value as { id: string }).id;

const invite = (door: Door, { token }: Person, email: string, role = 'MEMBER') =>
  doors.call(door, 'Mutation.createInvitation', { email, role }, { token });
const register = (door: Door, email: string, invitation: string) =>
  doors.call(door, 'Mutation.register', { email, password: PASSWORD, invitation });
const update = (door: Door, { token }: Person, id: string, role: string) =>
  doors.call(door, 'Mutation.updateMember', { id, role }, { token });
const remove = (door: Door, { token }: Person, id: string) =>
  doors.call(door, 'Mutation.deleteMember', { id }, { token });

describe.each(DOORS)('at the door %s', door => {
  test('an invitation brings somebody into the workspace, with its role', async () => {
    const owner = await app.register();
    const email = freshEmail();
    const answer = await invite(door, owner, email, 'VIEWER');
    expect(answer.value).toMatchObject({ email, role: 'VIEWER', invitedById: owner.id });
    const token = await app.mailbox.invitationFor(email);
    expect(answer.text).not.toContain(token);
    const { challenge } = (await register(door, email, token)).value as { challenge: string };
    const code = await app.mailbox.codeFor(email);
    const guest = await doors.call(door, 'Mutation.verifyOtp', { email, code, challenge });
    expect(guest.value).toMatchObject({
      user: { role: 'VIEWER', workspaceId: owner.workspaceId, instanceAdmin: false },
    });
    const members = await doors.call(door, 'Query.members', {}, { token: owner.token });
    expect((members.value as { email: string }[]).map(member => member.email)).toEqual([email, owner.email]);
    expect((await doors.call(door, 'Query.invitations', {}, { token: owner.token })).value).toEqual([]);
  });

  test('an invitation is bound to its address and works once', async () => {
    const owner = await app.register();
    const email = freshEmail();
    await invite(door, owner, email);
    const token = await app.mailbox.invitationFor(email);
    const invalid = { status: 400, code: 'INVITATION_INVALID' };
    expect(await register(door, freshEmail(), token)).toMatchObject(invalid);
    expect(await register(door, email, 'x'.repeat(43))).toMatchObject(invalid);
    const guest = await app.register(email, { invitation: token });
    expect(await remove(door, owner, guest.id)).toMatchObject({ status: 200 });
    expect(await register(door, email, token)).toMatchObject(invalid);
  });

  test('it is good for seven days', async () => {
    const owner = await app.register();
    const [early, late] = [freshEmail(), freshEmail()];
    await invite(door, owner, early);
    await invite(door, owner, late);
    const tokens = [await app.mailbox.invitationFor(early), await app.mailbox.invitationFor(late)] as const;
    await later(7 * DAY - 60_000, async () =>
      expect((await register(door, early, tokens[0])).status).toBeLessThan(300),
    );
    await later(7 * DAY + 60_000, async () =>
      expect(await register(door, late, tokens[1])).toMatchObject({ code: 'INVITATION_INVALID' }),
    );
  });

  test('a second invitation to the same address takes the place of the first', async () => {
    const owner = await app.register();
    const email = freshEmail();
    await invite(door, owner, email, 'OWNER');
    const first = await app.mailbox.invitationFor(email);
    await invite(door, owner, email, 'VIEWER');
    const second = await app.mailbox.invitationFor(email);
    expect(await register(door, email, first)).toMatchObject({ code: 'INVITATION_INVALID' });
    expect((await register(door, email, second)).value).toMatchObject({ user: { role: 'VIEWER' } });
  });

  test('withdrawn while its guest has not proved the address yet, it lets nobody in', async () => {
    const owner = await app.register();
    const email = freshEmail();
    const id = idOf((await invite(door, owner, email)).value);
    const invitation = await app.mailbox.invitationFor(email);
    const { challenge } = (await register(door, email, invitation)).value as { challenge: string };
    const code = await app.mailbox.codeFor(email);
    expect(await doors.call(door, 'Mutation.deleteInvitation', { id }, { token: owner.token })).toMatchObject({
      status: 200,
    });
    expect(await doors.call(door, 'Mutation.verifyOtp', { email, code, challenge })).toMatchObject({ status: 400 });
    expect(await doors.call(door, 'Mutation.login', { email, password: PASSWORD })).toMatchObject({ status: 401 });
    expect(await register(door, email, invitation)).toMatchObject({ code: 'INVITATION_INVALID' });
  });

  test('an invitation that was used cannot be withdrawn: the member stays', async () => {
    const owner = await app.register();
    const guest = await app.join(owner, 'MEMBER');
    const [row] = await app.sql<{ id: string }>('select id from invitation where email = $1', [guest.email]);
    const answer = await doors.call(door, 'Mutation.deleteInvitation', { id: row?.id }, { token: owner.token });
    expect(answer).toMatchObject({ status: 404 });
    expect(await app.rest('GET', '/auth/me', { token: guest.token })).toMatchObject({ status: 200 });
  });

  test('somebody who has an account already cannot be invited', async () => {
    const [owner, other] = [await app.register(), await app.register()];
    expect(await invite(door, owner, other.email)).toMatchObject({ status: 409, code: 'EMAIL_TAKEN' });
  });

  test('a new role holds from the next request on', async () => {
    const owner = await app.register();
    const member = await app.join(owner, 'VIEWER');
    const may = async () => (await invite(door, member, freshEmail())).code ?? 'done';
    expect(await may()).toBe('FORBIDDEN');
    expect(await update(door, owner, member.id, 'OWNER')).toMatchObject({ value: { role: 'OWNER', version: 2 } });
    expect(await may()).toBe('done');
    await update(door, owner, member.id, 'MEMBER');
    expect(await may()).toBe('FORBIDDEN');
  });

  test('who is removed is signed out, loses the tokens and may register anew', async () => {
    const owner = await app.register();
    const member = await app.join(owner, 'MEMBER');
    const made = await doors.call(
      door,
      'Mutation.createApiToken',
      { name: 'x', scope: 'read' },
      { token: member.token },
    );
    expect(await remove(door, owner, member.id)).toMatchObject({ value: { id: member.id } });
    for (const token of [member.token, (made.value as { token: string }).token])
      expect(await app.rest('GET', '/auth/me', { token })).toMatchObject({ status: 401 });
    const again = await app.register(member.email);
    expect(again.workspaceId).not.toBe(owner.workspaceId);
  });

  test('the last owner stays an owner', async () => {
    const owner = await app.register();
    const last = { status: 409, code: 'LAST_OWNER' };
    expect(await update(door, owner, owner.id, 'MEMBER')).toMatchObject(last);
    expect(await remove(door, owner, owner.id)).toMatchObject(last);
    const second = await app.join(owner, 'OWNER');
    expect(await update(door, owner, owner.id, 'MEMBER')).toMatchObject({ status: 200 });
    expect(await remove(door, second, second.id)).toMatchObject(last);
  });

  test('members and invitations are the owners’ business alone', async () => {
    const owner = await app.register();
    for (const role of ['MEMBER', 'VIEWER'] as const) {
      const member = await app.join(owner, role);
      const calls = [
        invite(door, member, freshEmail()),
        update(door, member, member.id, 'OWNER'),
        remove(door, member, owner.id),
        doors.call(door, 'Query.members', {}, { token: member.token }),
        doors.call(door, 'Query.invitations', {}, { token: member.token }),
      ];
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    }
  });
});

test('two owners who demote or remove each other at once leave one', async () => {
  for (let round = 0; round < 6; round += 1) {
    const one = await app.register();
    const other = await app.join(one, 'OWNER');
    const answers = await Promise.all([
      round % 2 === 0 ? update('rest', one, other.id, 'VIEWER') : remove('rest', one, other.id),
      round < 3 ? update('rest', other, one.id, 'VIEWER') : remove('rest', other, one.id),
    ]);
    const owners = `select 1 from users where workspace_id = $1 and role = 'OWNER'`;
    expect(await app.sql(owners, [one.workspaceId])).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.every(({ status }) => [200, 401, 403, 404, 409].includes(status))).toBe(true);
  }
});

test('what was done to members is in the audit trail, with who did it', async () => {
  const owner = await app.register();
  const member = await app.join(owner, 'VIEWER');
  await update('rest', owner, member.id, 'MEMBER');
  await invite('rest', member, freshEmail());
  const { body } = await app.rest<{ action: string; actor: string; outcome: string; resource: string | null }[]>(
    'GET',
    '/audit',
    { token: owner.token },
  );
  expect(body).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ action: 'createInvitation', actor: owner.id, outcome: 'DONE' }),
      expect.objectContaining({ action: 'updateMember', actor: owner.id, resource: `User:${member.id}` }),
      expect.objectContaining({ action: 'createInvitation', actor: member.id, outcome: 'DENIED' }),
      expect.objectContaining({ action: 'verifyOtp', actor: member.id }),
    ]),
  );
});
