import type { EntityManager } from '@mikro-orm/postgresql';
import { Deployment } from '../entities/deployment.ts';
import { Environment } from '../entities/environment.ts';
import type { Run } from '../entities/run.ts';
import { Server } from '../entities/server.ts';
import { DomainError } from '../errors.ts';
import { clearEnvironment } from './deploy/clear-environment.ts';
import { DeployFailure } from './deploy/deploy-failure.ts';
import { networkName } from './deploy/names.ts';
import type { UseMachine } from './environment-power.ts';
import { writeDuring } from './run.engine.ts';

export interface RemovalWish {
  /** Volumes go too. */
  deleteData: boolean;
  /** Go on without servers that cannot be worked on, and say what is left there. */
  force: boolean;
}

/** Takes what there is of environments from their servers, for a run that deletes them. */
export class EnvironmentRemoval {
  constructor(
    private readonly em: EntityManager,
    private readonly use: UseMachine,
    private readonly run: Run,
    private readonly wish: RemovalWish,
  ) {}

  /** Whatever is gone already is no fault: it may be said again. */
  async clear(environmentId: string): Promise<string> {
    const names: string[] = [];
    for (const server of await this.#servers(environmentId)) {
      const isCleared = await this.#clearOn(server, environmentId);
      names.push(`${isCleared ? 'removed from' : 'left behind on'} ${server.name}`);
    }
    return names.length === 0 ? 'Nothing of it is on a server' : sentence(names.join(', '));
  }

  async #clearOn(server: Server, environmentId: string): Promise<boolean> {
    const keepsData = !this.wish.deleteData;
    try {
      await this.use(server.id, machine => clearEnvironment(machine, environmentId, { keepsData }));
      return true;
    } catch (error) {
      const isTheServers = error instanceof DomainError || error instanceof DeployFailure;
      if (!this.wish.force || !isTheServers) throw error;
      await this.#leave(server, environmentId);
      return false;
    }
  }

  /** Where it is, where it is on its way to, and where something of it is kept or was left. */
  async #servers(environmentId: string): Promise<Server[]> {
    const fork = this.em.fork();
    const environment = await fork.findOne(Environment, environmentId);
    // Volumes stay on every server that it ever was on.
    const traces = { environmentId, ...(this.wish.deleteData ? {} : KEPT_OR_LEFT) };
    const deployments = await fork.find(Deployment, traces, { fields: ['serverId'] });
    const isThere = environment?.currentDeploymentId != null;
    const ids = [isThere ? environment.serverId : null, ...deployments.map(({ serverId }) => serverId)];
    return fork.find(Server, { id: [...new Set(ids.filter(id => id !== null))] }, { orderBy: { id: 'asc' } });
  }

  async #leave({ name }: Server, environmentId: string): Promise<void> {
    const fork = this.em.fork();
    const { currentDeploymentId } = (await fork.findOne(Environment, environmentId)) ?? {};
    const left = [
      ...(currentDeploymentId == null ? [] : [`container slipway-${currentDeploymentId}`]),
      `images slipway/${environmentId}`,
      `network ${networkName(environmentId)}`,
      `volumes with the label slipway.environment=${environmentId}`,
    ].map(what => `${name}: ${what}`);
    await writeDuring(this.em, this.run, async (_, run) => {
      run.leftBehind = [...new Set([...run.leftBehind, ...left])];
    });
  }
}

const KEPT_OR_LEFT = { $or: [{ image: { $ne: null } }, { hasLeftovers: true }] };

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
