import { setTimeout as pause } from 'node:timers/promises';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Deployment } from '../entities/deployment.ts';
import { Environment, EnvironmentStatus } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { type Run, RunKind } from '../entities/run.ts';
import { DomainError } from '../errors.ts';
import type { ContainerSummary } from '../integrations/docker/docker-answers.ts';
import { keptServices } from './deploy/compose/kept-services.ts';
import { DeployFailure } from './deploy/deploy-failure.ts';
import type { Machine } from './deploy/deploy-step.ts';
import { askHealth, isHealthy, saidOf } from './deploy/health.ts';
import { deploymentLabels, hasEndedWell, LABEL } from './deploy/names.ts';
import { stopSecondsOf } from './deploy/release-container.ts';
import { type Step, writeDuring } from './run.engine.ts';

/** Works on a server over one connection of its own choosing. */
export type UseMachine = <Result>(serverId: string, work: (machine: Machine) => Promise<Result>) => Promise<Result>;

interface Current {
  environment: Environment;
  deployment: Deployment;
  serverId: string;
}

const GOING = [EnvironmentStatus.DELETING, EnvironmentStatus.DELETE_FAILED];

/** What does not listen proves itself by going on running for so long. */
const SETTLED_MS = 3000;

/** Restarts, stops and starts what serves, and says what has become of it once that is true. */
export class EnvironmentPower {
  constructor(
    private readonly em: EntityManager,
    private readonly use: UseMachine,
    private readonly run: Run,
    private readonly environmentId: string,
  ) {}

  steps(): Step[] {
    const verify = { name: 'verify', run: (signal: AbortSignal) => this.#verify(signal) };
    if (this.run.kind === RunKind.STOP_ENVIRONMENT) return [{ name: 'stop', run: () => this.#stop() }];
    if (this.run.kind === RunKind.START_ENVIRONMENT) return [{ name: 'start', run: () => this.#start() }, verify];
    return [{ name: 'restart', run: () => this.#restart() }, verify];
  }

  async #stop(): Promise<string> {
    const current = await this.#current();
    await this.use(current.serverId, async machine => {
      for (const { name, labels } of await containersOf(machine, current.deployment))
        await machine.docker.stopContainer(name, stopSecondsOf(labels));
    });
    await this.#tell(EnvironmentStatus.STOPPED, null);
    return 'Stopped';
  }

  async #start(): Promise<string> {
    const current = await this.#current();
    await this.use(current.serverId, async machine => {
      for (const { name } of await thereMustBe(machine, current.deployment)) await machine.docker.startContainer(name);
    });
    return 'Started';
  }

  /** What was started since this was asked for has been restarted already. */
  async #restart(): Promise<string> {
    const current = await this.#current();
    const since = this.run.startedAt ?? this.run.createdAt;
    await this.use(current.serverId, async ({ docker, ...machine }) => {
      for (const { name, labels } of await thereMustBe({ docker, ...machine }, current.deployment)) {
        const { startedAt, isRunning } = (await docker.inspectContainer(name)) ?? {};
        const hasHappened = isRunning && startedAt != null && startedAt > since;
        if (!hasHappened) await docker.restartContainer(name, stopSecondsOf(labels));
      }
    });
    return 'Restarted';
  }

  async #verify(signal: AbortSignal): Promise<string> {
    const current = await this.#current();
    try {
      const said = await this.use(current.serverId, machine => prove(machine, current, signal));
      await this.#tell(EnvironmentStatus.LIVE, null);
      return said;
    } catch (error) {
      if (error instanceof DeployFailure) await this.#tell(EnvironmentStatus.DOWN, error.message);
      throw error;
    }
  }

  async #current(): Promise<Current> {
    const fork = this.em.fork();
    const environment = await fork.findOne(Environment, this.environmentId);
    const deployment = await fork.findOne(Deployment, { id: environment?.currentDeploymentId ?? this.environmentId });
    const serverId = deployment?.serverId ?? null;
    if (environment === null || deployment === null || serverId === null)
      throw new DomainError('NOT_DEPLOYED', 'Nothing of this environment runs any more');
    return { environment, deployment, serverId };
  }

  async #tell(status: EnvironmentStatus, statusReason: string | null): Promise<void> {
    await writeDuring(this.em, this.run, async unit => {
      const lock = { lockMode: LockMode.PESSIMISTIC_WRITE };
      const environment = await unit.em.findOne(Environment, { id: this.environmentId }, lock);
      // Whoever deletes it meanwhile says what has become of it.
      if (environment === null || GOING.includes(environment.status)) return;
      Object.assign(environment, { status, statusReason, watch: null });
      unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
    });
  }
}

/** Its own; of a compose file that has nothing but services with data, those. */
async function containersOf({ docker }: Pick<Machine, 'docker'>, deployment: Deployment): Promise<ContainerSummary[]> {
  const all = await docker.containers(deploymentLabels(deployment));
  const own = all.filter(({ labels }) => labels[LABEL.role] !== 'pre-deploy');
  return own.length > 0 ? own : keptServices(docker, deployment.environmentId);
}

async function thereMustBe(machine: Pick<Machine, 'docker'>, deployment: Deployment): Promise<ContainerSummary[]> {
  const containers = await containersOf(machine, deployment);
  if (containers.length > 0) return containers;
  throw new DeployFailure('START_FAILED', 'Its container is gone from the server', 'Deploy it again.');
}

async function prove(machine: Machine, { environment, deployment }: Current, signal: AbortSignal): Promise<string> {
  const { healthCheck } = environment;
  const { hostPort } = deployment;
  if (hostPort === null) {
    await pause(SETTLED_MS, undefined, { signal });
    await refuseEnded(machine, deployment);
    return 'It runs';
  }
  let said = 'nothing';
  for (let tries = 1; tries <= healthCheck.retries; tries += 1) {
    await refuseEnded(machine, deployment);
    const answer = await askHealth(() => machine.host.dial(hostPort), healthCheck);
    if (isHealthy(answer)) return `${healthCheck.path} answered ${saidOf(answer)}`;
    said = saidOf(answer);
    if (tries < healthCheck.retries) await pause(healthCheck.intervalSeconds * 1000, undefined, { signal });
  }
  const hint = 'GET /environments/:id/logs shows what it says.';
  throw new DeployFailure('HEALTH_TIMEOUT', `${healthCheck.path} did not answer well: last ${said}`, hint);
}

/** Docker starts what ends by itself anew; one that does so at once never runs for long. */
async function refuseEnded(machine: Machine, deployment: Deployment): Promise<void> {
  for (const { name } of await thereMustBe(machine, deployment)) {
    const state = await machine.docker.inspectContainer(name);
    if (state?.isRunning || state?.isRestarting || (state && hasEndedWell(state))) continue;
    const hint = 'GET /environments/:id/logs shows what it said.';
    throw new DeployFailure('START_FAILED', `It ended by itself, with exit code ${state?.exitCode}`, hint);
  }
}
