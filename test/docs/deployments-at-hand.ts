import { LogWriter } from '../../src/engine/deploy/log-writer.ts';
import { Masker } from '../../src/engine/deploy/masker.ts';
import { Deployment, DeploymentPhase, DeploymentStatus } from '../../src/entities/deployment.ts';
import { Environment } from '../../src/entities/environment.ts';
import type { TestApp } from '../support/create-app.ts';
import { changeDeployment, makeDeployment, makeEnvironment, restEngine } from '../support/deployments.ts';
import type { Happenings } from './story.ts';

const environmentOf = ({ app }: TestApp): Promise<Environment> =>
  app.database.orm.em.fork().findOneOrFail(Environment, { slug: 'production' });

const firstOf = ({ app }: TestApp): Promise<Deployment> =>
  app.database.orm.em.fork().findOneOrFail(Deployment, { number: 1 });

/** What happens to deployments on pages that speak of them, without a server: their states are put there as the engine would. */
export const deploymentHappenings: Happenings = {
  'an environment is at hand': async (app, shell) => {
    await restEngine(app);
    const [{ id: workspaceId } = { id: '' }] = await app.sql<{ id: string }>(
      'select id from workspace order by id limit 1',
    );
    const { id } = await makeEnvironment(app, { workspaceId }, { branch: 'main' });
    await shell(`ENVIRONMENT='${id}'`);
  },
  'the deployment is carried out': async app => {
    const deployment = await firstOf(app);
    const [status, live] = [DeploymentStatus.RUNNING, DeploymentStatus.LIVE];
    await changeDeployment(app, deployment, { status, phase: DeploymentPhase.PREPARING }, 'Begun');
    await changeDeployment(app, deployment, { phase: DeploymentPhase.BUILDING }, 'Building');
    const log = new LogWriter(app.app.database.orm.em, deployment, { masker: new Masker([]) });
    await log.write(Buffer.from('added 12 packages in 2s\n'), 'stdout');
    await log.flush();
    const done = { status: live, phase: DeploymentPhase.DRAINING, image: 'slipway/shop:1' };
    await changeDeployment(app, deployment, done, 'Live');
    await changeDeployment(app, deployment, { isFinished: true }, 'Finished');
  },
  'a deployment waits': async (app, shell) => {
    const { id } = await makeDeployment(app, await environmentOf(app));
    await shell(`WAITING='${id}'`);
  },
  'another release is live': async app => {
    await changeDeployment(app, await firstOf(app), { status: DeploymentStatus.SUPERSEDED }, 'Superseded');
    await makeDeployment(app, await environmentOf(app), { status: DeploymentStatus.LIVE, isFinished: true });
  },
};
