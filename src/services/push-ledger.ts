import { DeploymentTrigger } from '../entities/deployment.ts';
import type { Environment } from '../entities/environment.ts';
import { HookDecision, HookDelivery } from '../entities/hook-delivery.ts';
import { Project } from '../entities/project.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { PushEvent } from '../integrations/git/push-events.ts';
import type { DeploymentQueue } from './deployment-queue.ts';
import { isPush, judge } from './push-decision.ts';

/** How a push came to be known. */
export interface Notice {
  /** The branch that is followed. */
  branch: string | null;
  /** Of the provider; without one the row's own. */
  deliveryId?: string;
  bodyDigest?: string | null;
  redeliveryOf?: string | null;
  /** Who wants it decided anew. */
  actor?: string | null;
}

/** Writes down every push that is told of or found, with what was decided, and queues what is to be deployed. */
export class PushLedger {
  constructor(private readonly deployments: DeploymentQueue) {}

  /** The environment was loaded with a lock: the same push cannot be taken twice. */
  async enter(unit: UnitOfWork, environment: Environment, push: PushEvent, notice: Notice): Promise<HookDelivery> {
    const project = await unit.em.findOneOrFail(Project, environment.projectId);
    const { branch, redeliveryOf = null, bodyDigest = null, actor = null } = notice;
    const isAskedFor = redeliveryOf !== null;
    const { decision, reason } = judge(push, { environment, project, branch, isAskedFor });
    const { workspaceId, projectId, id: environmentId } = environment;
    const delivery = unit.em.create(HookDelivery, {
      ...{ workspaceId, projectId, environmentId, bodyDigest, redeliveryOf, decision, reason },
      ...{ event: push.event, branch: push.branch, commitSha: push.sha, commitMessage: push.message },
      ...{ commitAuthor: push.author, changedPaths: push.changedPaths, deliveryId: notice.deliveryId ?? '' },
    });
    if (notice.deliveryId === undefined) delivery.deliveryId = delivery.id;
    if (isPush(push) && push.branch === branch)
      Object.assign(environment, { seenCommit: push.sha, seenBranch: push.branch });
    if (decision === HookDecision.DEPLOYED) delivery.deploymentId = await this.#deploy(unit, environment, push, actor);
    return delivery;
  }

  async #deploy(unit: UnitOfWork, environment: Environment, push: PushEvent, actor: string | null): Promise<string> {
    const { branch, sha, message, author } = push;
    const commit = sha === null ? null : { sha, message: firstLine(message), author: author ?? '' };
    const wish = { trigger: DeploymentTrigger.PUSH, actor, branch, wantedCommit: sha, commit };
    return (await this.deployments.add(unit, environment, wish)).id;
  }
}

const firstLine = (message: string | null): string => (message ?? '').split('\n', 1)[0]?.trim() ?? '';
