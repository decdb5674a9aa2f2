import type { Driver } from './driver.ts';

interface Identified {
  id: string;
  version: number;
}

export async function driveAccount(driver: Driver): Promise<void> {
  await driver.drive('me');
  await driver.drive('updateMe', { body: { name: 'Ann' } });
  await driver.drive('updateMe', { body: { name: null } });
  await driver.refuse('updateMe', 400, { body: { password: 'a new one that is long', currentPassword: 'wrong' } });
  await driver.refuse('updateMe', 400, { body: { twoFactorEnabled: null } }, 'null where nothing can be cleared');
  await driveSessions(driver);
  await driveTokens(driver);
  await driver.drive('createStreamTicket', { body: { path: '/api/v1/events' } });
}

async function driveSessions(driver: Driver): Promise<void> {
  const { email, password, token } = driver.person;
  await driver.drive('login', { body: { email, password }, token: null });
  const [newest] = (await driver.drive<Identified[]>('sessions', { query: { limit: '1' } })).body;
  await driver.drive('deleteSession', { params: { id: newest?.id ?? '' }, token });
}

async function driveTokens(driver: Driver): Promise<void> {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const made = await driver.drive<Identified>('createApiToken', { body: { name: 'ci', scope: 'deploy', expiresAt } });
  await driver.refuse('createApiToken', 400, { body: { name: '', scope: 'all' } });
  await driver.drive('apiTokens', { query: { limit: '1' } });
  await driver.refuse('apiTokens', 400, { query: { limit: '101' } });
  const { id, version } = made.body;
  await driver.drive('deleteApiToken', { params: { id }, headers: { 'if-match': `"${version}"` } });
}
