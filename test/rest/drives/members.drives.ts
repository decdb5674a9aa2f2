import type { Driver } from './driver.ts';

interface Identified {
  id: string;
}

export async function driveMembers(driver: Driver): Promise<void> {
  const { app, person } = driver;
  const invited = await driver.drive<Identified>('createInvitation', {
    body: { email: 'cem@example.org', role: 'VIEWER' },
  });
  await driver.refuse('createInvitation', 409, { body: { email: person.email, role: 'VIEWER' } });
  await driver.drive('invitations');
  await driver.drive('deleteInvitation', { params: { id: invited.body.id } });
  const dora = await app.join(person, 'MEMBER');
  await driver.drive('members', { query: { limit: '1' } });
  await driver.drive('member', { params: { id: dora.id } });
  await driver.drive('updateMember', { params: { id: dora.id }, body: { role: 'VIEWER' } });
  await driver.refuse('updateMember', 409, { params: { id: person.id }, body: { role: 'VIEWER' } }, 'the last owner');
  await driver.refuse('deleteMember', 409, { params: { id: person.id } }, 'the last owner');
  await driver.drive('deleteMember', { params: { id: dora.id } });
}
