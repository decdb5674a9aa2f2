import { expect, test } from '@jest/globals';
import { DeployFailure } from '../../../src/engine/deploy/deploy-failure.ts';
import { dockerPrefix, openDocker } from '../../../src/engine/deploy/server-docker.ts';
import { HttpMachine } from '../../support/http-machine.ts';
import { RecordingHost } from '../../support/recording-host.ts';

test('Docker is asked as whoever it answers to', async () => {
  expect(await dockerPrefix(new RecordingHost().on('docker version', { stdout: 'self\n' }))).toEqual([]);
  const asRoot = new RecordingHost().on('docker version', { stdout: 'root\n' });
  expect(await dockerPrefix(asRoot)).toEqual(['sudo', '-n', '--']);
});

test('it is spoken to by the standard input and output of a program of its own', async () => {
  const machine = await HttpMachine.start();
  machine.on('GET /version', machine.json({ Version: '27.0.1', ApiVersion: '1.46', MinAPIVersion: '1.24' }));
  const host = new RecordingHost().on('docker version', { stdout: 'root\n' }).onConverse('dial-stdio', machine.open);
  const docker = await openDocker(host);
  expect(await docker.version()).toMatchObject({ version: '27.0.1' });
  expect(host.said.at(-1)?.line).toBe('sudo -n -- docker system dial-stdio');
  docker.close();
  await machine.stop();
});

test('where it does not answer, that is said with what the machine said and what to do', async () => {
  const host = new RecordingHost().on('docker version', { exitCode: 1, stderr: 'docker is not installed\n' });
  const failure = await openDocker(host).catch(error => error);
  expect(failure).toBeInstanceOf(DeployFailure);
  expect(failure).toMatchObject({
    code: 'DOCKER_MISSING',
    message: 'Docker does not answer on the server: docker is not installed',
    hint: expect.stringContaining('POST /servers/:id/docker'),
  });
});

test('a server that is lost is lost', async () => {
  const host = new RecordingHost().on('docker version', { fails: 'LOST' });
  await expect(openDocker(host)).rejects.toMatchObject({ reason: 'LOST' });
});
