import type { DeployMeans, SourceWish } from '../engine/deploy/deploy-means.ts';
import type { Project } from '../entities/project.ts';
import type { Host } from '../remote/host.ts';
import type { GitAccessService } from './git-access.service.ts';
import type { ServerAccessService } from './server-access.service.ts';
import { ServerAway } from './server-failure.ts';
import type { VariableStore } from './variable-store.ts';

/** Opens for the engine what it works with: servers, repositories, variables. */
export function deployMeans(
  servers: ServerAccessService,
  git: GitAccessService,
  variables: VariableStore,
): DeployMeans {
  return {
    useServer: (serverId, work) => useServer(servers, serverId, work),
    newestCommit: (project, branch) => git.newestCommit(sourceOf(project, branch)),
    checkOut: (project, { branch, commit }: SourceWish, signal) =>
      git.checkOut(sourceOf(project, branch), { branch, commit }, signal),
    variables: environmentId => variables.read(environmentId),
    sealRelease: (deploymentId, values) => variables.sealRelease(deploymentId, values),
    openRelease: deployment => variables.openRelease(deployment),
    sealComposition: (deploymentId, composition) => variables.sealComposition(deploymentId, composition),
    openComposition: deployment => variables.openComposition(deployment),
  };
}

/** Whether a machine that is out of reach is worth another try only what SSH itself says can decide. */
export async function useServer<Result>(
  servers: ServerAccessService,
  serverId: string,
  work: (host: Host) => Promise<Result>,
): Promise<Result> {
  try {
    return await servers.use(serverId, work);
  } catch (error) {
    throw error instanceof ServerAway ? error.failure : error;
  }
}

const sourceOf = ({ workspaceId, gitProviderId, repository }: Project, branch: string | null) => ({
  ...{ workspaceId, gitProviderId, repository, branch },
});
