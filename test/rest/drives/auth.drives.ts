import { PASSWORD } from '../../support/create-app.ts';
import type { Driver } from './driver.ts';

interface SignedIn {
  accessToken: string;
  refreshToken: string;
}

const NEW_PASSWORD = 'another horse battery';

/** Joining, signing in and out, by an account of its own. */
export async function driveAuth(driver: Driver): Promise<void> {
  const email = 'bea@example.org';
  const credentials = { email, password: PASSWORD };
  await driver.drive('register', { body: { ...credentials, name: 'Bea', invitation: null }, token: null });
  // The next code takes the place of this one.
  await driver.app.mailbox.codeFor(email);
  await driver.refuse('register', 400, { body: { email, password: 'short' }, token: null });
  await driver.refuse('register', 400, { body: { ...credentials, invitation: 'unknown' }, token: null });
  const unverified = await driver.refuse('login', 403, { body: credentials, token: null });
  await driver.refuse('verifyOtp', 400, { body: { email, code: '000000' }, token: null }, 'a wrong code');
  const code = await driver.app.mailbox.codeFor(email);
  await driver.drive('verifyOtp', { body: { email, code, challenge: unverified.body.challenge }, token: null });
  await driver.refuse('register', 409, { body: credentials, token: null }, 'a taken address');
  await driver.refuse('login', 401, { body: { ...credentials, password: 'a wrong one' }, token: null });
  const { refreshToken } = (await driver.drive<SignedIn>('login', { body: credentials, token: null })).body;
  const refreshed = (await driver.drive<SignedIn>('refresh', { body: { refreshToken }, token: null })).body;
  await driver.refuse('refresh', 401, { body: { refreshToken: 'nonsense' }, token: null });
  await driver.drive('logout', { token: refreshed.accessToken });
  await drivePasswords(driver, email);
}

async function drivePasswords(driver: Driver, email: string): Promise<void> {
  await driver.drive('forgotPassword', { body: { email }, token: null });
  const token = await driver.app.mailbox.resetTokenFor(email);
  await driver.refuse('resetPassword', 400, { body: { token: 'unknown', password: NEW_PASSWORD }, token: null });
  await driver.drive('resetPassword', { body: { token, password: NEW_PASSWORD }, token: null });
  const body = { email, password: NEW_PASSWORD };
  const { accessToken } = (await driver.drive<SignedIn>('login', { body, token: null })).body;
  await driver.drive('updateMe', {
    token: accessToken,
    body: { twoFactorEnabled: true, currentPassword: NEW_PASSWORD },
  });
  await driver.refuse('login', 401, { body, token: null }, 'two-step sign-in');
}
