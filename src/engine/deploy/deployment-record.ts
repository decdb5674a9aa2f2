import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { clock } from '../../clock.ts';
import { Deployment, DeploymentPhase, DeploymentStatus } from '../../entities/deployment.ts';
import { Environment } from '../../entities/environment.ts';
import { EventAction } from '../../entities/event.ts';
import { tellDeployment } from '../../events/deployment-story.ts';
import { transact, type UnitOfWork, workOrigin } from '../../events/unit-of-work.ts';
import { DeployCancelled } from './deploy-step.ts';
import { TakenOver } from './taken-over.ts';

/** What is known of a deployment when it ends. */
export type Outcome = Partial<
  Pick<
    Deployment,
    'status' | 'error' | 'image' | 'images' | 'variables' | 'composition' | 'hostPort' | 'buildKey' | 'hasLeftovers'
  >
>;

type Change = (deployment: Deployment, unit: UnitOfWork) => void | Promise<void>;

const PHASES = Object.values(DeploymentPhase);

/** The row of a deployment as its worker writes it: under a fence, so that a worker who was away too long writes nothing. */
export class DeploymentRecord {
  #held: Deployment;

  constructor(
    private readonly em: EntityManager,
    taken: Deployment,
  ) {
    this.#held = taken;
  }

  get now(): Deployment {
    return this.#held;
  }

  /** With a message it is told to whoever watches. */
  async change(change: Change, message?: string): Promise<void> {
    this.#held = await transact(this.em, originOf(this.#held), async unit => {
      await unit.hasten();
      const { id, fence, environmentId } = this.#held;
      // In the order of whoever queues: the other way round the two would wait for each other.
      await unit.em.findOne(Environment, environmentId, { lockMode: LockMode.PESSIMISTIC_WRITE });
      const where = { id, fence, isFinished: false };
      const deployment = await unit.em.findOne(Deployment, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (deployment === null) throw new TakenOver();
      await change(deployment, unit);
      if (message !== undefined) await tellDeployment(unit, EventAction.UPDATED, deployment, message);
      return deployment;
    });
  }

  /** Phases are only gone forwards, whoever takes it up again. */
  async enter(phase: DeploymentPhase, message: string): Promise<void> {
    const { phase: before } = this.#held;
    if (before !== null && PHASES.indexOf(phase) <= PHASES.indexOf(before)) return;
    await this.change(deployment => setPhase(deployment, phase), message);
  }

  async finish(message: string, outcome: Outcome): Promise<void> {
    await this.change(deployment => {
      closePhase(deployment);
      Object.assign(deployment, outcome, { isFinished: true, finishedAt: clock.now() });
    }, message);
  }

  /** Whoever asked for it to end before this moment is obeyed; after it there is nothing left to cancel. */
  async goLive(change: Change, message: string): Promise<void> {
    await this.change(async (deployment, unit) => {
      if (deployment.status === DeploymentStatus.LIVE) return;
      if (deployment.status !== DeploymentStatus.RUNNING) throw new DeployCancelled();
      deployment.status = DeploymentStatus.LIVE;
      setPhase(deployment, DeploymentPhase.DRAINING);
      await change(deployment, unit);
    }, message);
  }
}

function setPhase(deployment: Deployment, phase: DeploymentPhase): void {
  closePhase(deployment);
  deployment.phase = phase;
  deployment.phases = [...deployment.phases, { name: phase, startedAt: nowText(), finishedAt: null }];
}

function closePhase(deployment: Deployment): void {
  const finishedAt = nowText();
  deployment.phases = deployment.phases.map(each => (each.finishedAt === null ? { ...each, finishedAt } : each));
}

const nowText = (): string => clock.now().toISOString();

/** What the service does by itself; who asked for it stands on the deployment. */
export const originOf = ({ workspaceId }: Pick<Deployment, 'workspaceId'>) => workOrigin('deployment', workspaceId);
