import { LogWriter } from '../../../src/engine/deploy/log-writer.ts';
import { Masker } from '../../../src/engine/deploy/masker.ts';
import { containerName } from '../../../src/engine/deploy/names.ts';
import { DeploymentStatus } from '../../../src/entities/deployment.ts';
import { makeDeployment, makeEnvironment, restEngine } from '../../support/deployments.ts';
import { PretendedReleases } from '../../support/pretended-release.ts';
import type { Driver } from './driver.ts';
import { driveStream } from './streams.drives.ts';

interface Identified {
  id: string;
}

export async function driveDeployments(driver: Driver): Promise<void> {
  const { app, person } = driver;
  await restEngine(app);
  const environment = await makeEnvironment(app, person);
  const environmentId = environment.id;
  const release = await makeDeployment(app, environment, {
    ...{
      status: DeploymentStatus.SUPERSEDED,
      image: 'slipway/x:y',
      commit: { sha: 'a'.repeat(40), message: '', author: '' },
    },
  });
  const log = new LogWriter(app.app.database.orm.em, release, { masker: new Masker([]) });
  await log.write(Buffer.from('one\ntwo\n'), 'stderr');
  await log.flush();
  const made = { params: { environmentId }, body: { commit: 'b'.repeat(40), rebuild: true } };
  const { id } = (await driver.drive<Identified>('createDeployment', made)).body;
  const nowhere = await makeEnvironment(app, person, { serverId: null });
  await driver.refuse('createDeployment', 409, { params: { environmentId: nowhere.id }, body: {} }, 'no server');
  await driver.drive('deployments', { query: { environmentId, status: 'QUEUED', limit: '1' } });
  await driver.drive('environmentDeployments', { params: { environmentId }, query: { status: 'QUEUED' } });
  await driver.drive('deployment', { params: { environmentId, id }, query: { wait: '0' } });
  await driver.drive('deploymentLogs', {
    params: { environmentId, id: release.id },
    query: { after: '1', limit: '1' },
  });
  await driveStream(
    driver,
    'deploymentStatus',
    { params: { environmentId, id: release.id } },
    async () => undefined,
    3,
  );
  const back = { params: { environmentId, id: release.id }, body: { variables: 'CURRENT' } };
  await driver.drive('rollbackDeployment', back);
  await driver.refuse('rollbackDeployment', 409, { params: { environmentId, id }, body: {} }, 'never live');
  await driver.drive('cancelDeployment', { params: { environmentId, id } });
  await driver.refuse('cancelDeployment', 409, { params: { environmentId, id } }, 'cancelled already');
}

export async function driveRuntimeLogs(driver: Driver): Promise<void> {
  const { app, person } = driver;
  const releases = await PretendedReleases.start(app, person);
  try {
    const environment = await makeEnvironment(app, person, { serverId: releases.serverId });
    const params = { id: environment.id };
    await driver.refuse('runtimeLogs', 409, { params }, 'not deployed');
    const { id } = await releases.goLive(environment, 'a secret');
    releases.docker.output.print(containerName(id), 'listening');
    await driver.drive('runtimeLogs', { params, query: { tail: '10', follow: 'false' } });
    await driveStream(driver, 'runtimeLogs', { params, query: { follow: 'true' } }, async () => undefined);
  } finally {
    await releases.stop();
  }
}
