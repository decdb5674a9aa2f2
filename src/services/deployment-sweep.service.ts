import type { EntityManager } from '@mikro-orm/postgresql';
import { tidyServer } from '../engine/deploy/tidy.ts';
import { Deployment } from '../entities/deployment.ts';
import { Server, ServerStatus } from '../entities/server.ts';
import { transact, workOrigin } from '../events/unit-of-work.ts';
import type { Queue } from '../jobs/queue.ts';
import type { ServerAccessService } from './server-access.service.ts';

/** Sees to it that no deployment is forgotten, and that nothing of one is: at each start, and every minute. */
export class DeploymentSweepService {
  constructor(
    private readonly em: EntityManager,
    private readonly queue: Queue,
    private readonly servers: ServerAccessService,
    private readonly warn: (message: string, error: unknown) => void,
  ) {}

  async sweep(signal?: AbortSignal): Promise<void> {
    await this.wakeForgotten();
    await this.#tidyServers(signal);
  }

  /** A job may have been given up, or lost with an old database: the deployment is a row, and rows are not forgotten. */
  async wakeForgotten(): Promise<void> {
    const open = await this.em.fork().find(Deployment, { isFinished: false }, { fields: ['environmentId'] });
    for (const environmentId of new Set(open.map(each => each.environmentId))) {
      if (await this.queue.isAwaited('environment.deploy', environmentId)) continue;
      await this.deployAgain(environmentId);
    }
  }

  async deployAgain(environmentId: string, startAfterSeconds?: number): Promise<void> {
    const when = startAfterSeconds === undefined ? {} : { startAfterSeconds };
    await transact(this.em, workOrigin('deployment'), unit =>
      this.queue.enqueue(unit, 'environment.deploy', { environmentId }, { lane: environmentId, ...when }),
    );
  }

  async #tidyServers(signal: AbortSignal | undefined): Promise<void> {
    const left = await this.em.fork().find(Deployment, { hasLeftovers: true }, { fields: ['serverId'] });
    const ids = [...new Set(left.flatMap(({ serverId }) => (serverId === null ? [] : [serverId])))];
    for (const { id } of await this.em.fork().find(Server, { id: ids, status: ServerStatus.READY })) {
      signal?.throwIfAborted();
      try {
        await this.servers.use(id, host => tidyServer(this.em, id, host));
      } catch (error) {
        this.warn('What deployments left on a server could not be cleared away; it is tried again', error);
      }
    }
  }
}
