import { LockMode } from '@mikro-orm/core';
import { Deployment, DeploymentStatus, DeploymentTrigger } from '../../src/entities/deployment.ts';
import { Environment } from '../../src/entities/environment.ts';
import { EventAction } from '../../src/entities/event.ts';
import { Project, ProjectStatus } from '../../src/entities/project.ts';
import { Server } from '../../src/entities/server.ts';
import { tellDeployment } from '../../src/events/deployment-story.ts';
import { newId } from '../../src/id.ts';
import type { Person, TestApp } from './create-app.ts';
import { changeIn } from './runs.ts';

type App = Pick<TestApp, 'app'>;
type Owner = Pick<Person, 'workspaceId'>;

/** Nobody takes deployments up: what is queued stays queued. */
export const restEngine = ({ app }: App): Promise<void> =>
  app.queue.boss.offWork('environment.deploy', { wait: false });

/** A server that nobody reaches. */
export const makeServer = (app: App, { workspaceId }: Owner): Promise<Server> =>
  changeIn(app, workspaceId, async ({ em }) =>
    em.create(Server, { workspaceId, name: newId(), host: 'server.invalid', port: 22, username: 'root' }),
  );

/** A project that is ready, with one environment on a server that nobody reaches. */
export async function makeEnvironment(app: App, owner: Owner, some: Partial<Environment> = {}) {
  const { workspaceId } = owner;
  const serverId = (await makeServer(app, owner)).id;
  return changeIn(app, workspaceId, async ({ em }) => {
    const name = newId();
    const slug = name.slice(-20);
    const status = ProjectStatus.READY;
    const repository = 'https://git.invalid/x/y.git';
    const project = em.create(Project, { workspaceId, name, slug, repository, status });
    const projectId = project.id;
    return em.create(Environment, {
      workspaceId,
      projectId,
      name: 'production',
      slug: 'production',
      serverId,
      ...some,
    });
  });
}

/** A deployment in any state, put there without anything being done, told as its engine would. */
export function makeDeployment(app: App, environment: Environment, some: Partial<Deployment> = {}) {
  const { id: environmentId, workspaceId, projectId, serverId } = environment;
  return changeIn(app, workspaceId, async unit => {
    const held = await unit.em.findOneOrFail(Environment, environmentId, { lockMode: LockMode.PESSIMISTIC_WRITE });
    held.deploymentCount += 1;
    const deployment = unit.em.create(Deployment, {
      ...{ workspaceId, projectId, environmentId, serverId, number: held.deploymentCount },
      trigger: DeploymentTrigger.MANUAL,
      ...some,
    });
    held.latestDeploymentId = deployment.id;
    if (deployment.status === DeploymentStatus.LIVE) held.currentDeploymentId = deployment.id;
    await tellDeployment(unit, EventAction.CREATED, deployment, 'Queued');
    return deployment;
  });
}

/** A change of a deployment's state, as its engine makes one. */
export function changeDeployment(
  app: App,
  { id, workspaceId }: Deployment,
  change: Partial<Deployment>,
  message: string,
) {
  return changeIn(app, workspaceId, async unit => {
    const deployment = await unit.em.findOneOrFail(Deployment, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    await tellDeployment(unit, EventAction.UPDATED, Object.assign(deployment, change), message);
    return deployment;
  });
}
