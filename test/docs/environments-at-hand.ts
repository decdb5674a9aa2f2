import { DeploymentStatus } from '../../src/entities/deployment.ts';
import { Environment, EnvironmentStatus } from '../../src/entities/environment.ts';
import { Project, ProjectStatus } from '../../src/entities/project.ts';
import { Server } from '../../src/entities/server.ts';
import type { TestApp } from '../support/create-app.ts';
import { makeDeployment, restEngine } from '../support/deployments.ts';
import { changeIn } from '../support/runs.ts';
import type { Happenings } from './story.ts';

async function workspaceOf(app: TestApp): Promise<string> {
  const [workspace] = await app.sql<{ id: string }>('select id from workspace order by id limit 1');
  if (workspace === undefined) throw new Error('there is nobody to have anything');
  return workspace.id;
}

/** As its analysis would have left it. */
export async function makeProject(app: TestApp, repository: string): Promise<string> {
  const workspaceId = await workspaceOf(app);
  const wish = { workspaceId, name: 'Shop', slug: 'shop', repository, status: ProjectStatus.ANALYZED };
  return (await changeIn(app, workspaceId, async ({ em }) => em.create(Project, wish))).id;
}

/** What happens to environments on pages that speak of them, without a server. */
export const environmentHappenings: Happenings = {
  'two servers are at hand': async (app, shell) => {
    await restEngine(app);
    const workspaceId = await workspaceOf(app);
    const place = { workspaceId, host: 'server.invalid', port: 22, username: 'root' };
    const [one, two] = await changeIn(app, workspaceId, async ({ em }) =>
      ['web-1', 'web-2'].map(name => em.create(Server, { ...place, name })),
    );
    await shell(`SERVER='${one?.id}' OTHER_SERVER='${two?.id}'`);
  },
  'the environment is live': async app => {
    const environment = await app.app.database.orm.em.fork().findOneOrFail(Environment, { slug: 'staging' });
    await makeDeployment(app, environment, { status: DeploymentStatus.LIVE, isFinished: true });
    await app.sql('update environment set status = $1', [EnvironmentStatus.LIVE]);
  },
  'the move is over': async app => {
    await app.sql(`update deployment set status = 'FAILED', is_finished = true where not is_finished`);
  },
};
