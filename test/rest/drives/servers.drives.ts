import { eventually } from '../../support/eventually.ts';
import { PretendedServer } from '../../support/pretended-server.ts';
import { makePrivateKey } from '../../support/ssh-keys.ts';
import { SshMachine } from '../../support/ssh-machine.ts';
import type { Driver } from './driver.ts';
import { driveStream } from './streams.drives.ts';

interface Identified {
  id: string;
}

/** Two of the first step, before anything is asked of the machine. */
const FIRST_MESSAGES = 2;
const PATIENCE_MS = 60_000;
const STRANGE = `SHA256:${'A'.repeat(43)}`;

export async function driveServers(driver: Driver): Promise<void> {
  const machine = await SshMachine.start();
  try {
    machine.program('docker', 'echo 27.1.0');
    await driveOne(driver, machine);
  } finally {
    await machine.stop();
  }
  await driveSecurity(driver);
}

async function driveOne(driver: Driver, machine: SshMachine): Promise<void> {
  const privateKey = makePrivateKey();
  const place = { host: '127.0.0.1', port: machine.port, username: 'root' };
  const { id } = (await driver.drive<Identified>('createServer', { body: { ...place, name: 'web' } })).body;
  const blind = { ...place, name: 'old', password: 'secret' };
  await driver.refuse('createServer', 400, { body: blind }, 'a password for a stranger');
  await driver.drive('servers', { query: { limit: '1' } });
  await driver.drive('server', { params: { id } });
  const params = { id };
  await driver.drive('updateServer', { params, body: { privateKey } });
  await driver.refuse('updateServer', 502, { params, body: { port: 1 } }, 'a closed port');
  await driver.refuse('updateServer', 400, { params, body: { privateKey: 'none' } }, 'no key');
  await driveTest(driver, { serverId: id });
  await driver.drive('installDocker', { params });
  await driveStranger(driver, id, machine);
  await driver.drive('deleteServer', { params });
}

async function driveTest(driver: Driver, body: { serverId: string }): Promise<void> {
  await driveStream(driver, 'testConnection', { body }, async () => undefined, FIRST_MESSAGES);
  await driver.refuse('testConnection', 401, { body, token: null });
  await driver.refuse('testConnection', 400, { body: { ...body, host: 'server.invalid' } }, 'a mix');
  await driver.refuse('testConnection', 400, { body: '{', headers: { 'content-type': 'application/json' } }, 'no JSON');
  await driver.refuse('testConnection', 415, { body: 'x', headers: { 'content-type': 'text/plain' } }, 'no JSON');
  await driver.refuse('testConnection', 404, { body: { serverId: '01890000-0000-7000-8000-000000000000' } }, 'unknown');
}

async function driveSecurity(driver: Driver): Promise<void> {
  const pretended = await PretendedServer.start();
  try {
    const body = { name: 'safe', ...pretended.place };
    const params = { id: (await driver.drive<Identified>('createServer', { body })).body.id };
    await driver.drive('checkServerSecurity', { params });
    const path = driver.urlOf('securityLook', { params });
    const { token } = driver.person;
    await eventually(async () => (await driver.app.rest('GET', path, { token })).status === 200, PATIENCE_MS);
    await driver.drive('securityLook', { params });
    await driver.drive('hardenServer', { params, body: { dryRun: true, allowPorts: [8080] } });
    await driver.drive('hardenServer', { params, body: { checks: ['login-notice'] } });
    await driver.refuse('hardenServer', 400, { params, body: { checks: ['none'] } }, 'an unknown check');
    await driver.refuse('hardenServer', 409, { params, body: { planId: '0'.repeat(32) } }, 'another plan');
  } finally {
    await pretended.stop();
  }
}

async function driveStranger(driver: Driver, id: string, machine: SshMachine): Promise<void> {
  await machine.changeHostKey();
  const params = { id };
  const privateKey = makePrivateKey();
  await driver.refuse('updateServer', 409, { params, body: { privateKey } }, 'another host key');
  await driver.refuse('installDocker', 409, { params }, 'another host key');
  await driver.refuse('trustServer', 400, { params, body: { hostKeyFingerprint: STRANGE } }, 'a key it does not show');
  await driver.drive('trustServer', { params, body: { hostKeyFingerprint: machine.fingerprint } });
}
