import type { EntityManager } from '@mikro-orm/postgresql';
import { isDatabaseAway } from '../database/availability.ts';
import { Deployment, type DeploymentError, type DeploymentPhase, DeploymentStatus } from '../entities/deployment.ts';
import { cancelDeploymentBell } from '../events/deployment-story.ts';
import type { RowBell } from '../events/row-bell.ts';
import { isOutOfReach } from '../remote/persist.ts';
import { DeployFailure } from './deploy/deploy-failure.ts';
import type { DeployMeans } from './deploy/deploy-means.ts';
import { DeployCancelled, type DeployStep } from './deploy/deploy-step.ts';
import { DeploymentRecord } from './deploy/deployment-record.ts';
import { explainFailure } from './deploy/explain-failure.ts';
import { LogWriter } from './deploy/log-writer.ts';
import { Masker } from './deploy/masker.ts';
import { type Endings, Release } from './deploy/release.ts';
import { stepsOf } from './deploy/steps.ts';
import { takeUp } from './deploy/take-up.ts';
import { TakenOver } from './deploy/taken-over.ts';
import { withMachine } from './deploy/with-machine.ts';
import type { Try } from './run.engine.ts';

interface Log {
  info(context: object, message: string): void;
  error(context: object, message: string): void;
}

/** `LATER`: it has to wait, for a place on the server or for the server itself; whoever asked asks again. */
export type Turn = 'DONE' | 'LATER';

/**
 * Carries deployments through their steps. Whatever happens at any moment, what served before goes on serving until the new
 * release has proven itself; and what is told of a deployment is told when it is true.
 */
export class DeployEngine {
  constructor(
    private readonly em: EntityManager,
    private readonly means: DeployMeans,
    private readonly bell: Pick<RowBell, 'watch'>,
    private readonly log: Log,
  ) {}

  /** `isLastTry`: whoever worked on it died each time. Then it ends here, for nobody would ever end it later. */
  async perform(environmentId: string, { signal, isLastTry }: Try): Promise<Turn> {
    const taken = await takeUp(this.em, environmentId);
    if (taken === 'NOTHING') return 'DONE';
    if (taken === 'LATER') return 'LATER';
    const record = new DeploymentRecord(this.em, taken);
    try {
      return await this.#carryThrough(record, signal, isLastTry);
    } catch (error) {
      if (!(error instanceof TakenOver)) throw error;
      this.log.info({ deploymentId: taken.id }, error.message);
      return 'DONE';
    }
  }

  async #carryThrough(record: DeploymentRecord, leave: AbortSignal, isLastTry: boolean): Promise<Turn> {
    const cancel = new AbortController();
    const unwatch = await this.#watchCancel(record.now, cancel);
    let release: Release | undefined;
    try {
      release = await this.#gather(record, { cancelled: cancel.signal, leave });
      if (isLastTry && !isLive(record)) throw GIVEN_UP;
      await this.#goThrough(release, stepsOf(release));
      await release.log.flush();
      await record.finish('Finished', {});
      return 'DONE';
    } catch (error) {
      if (isForAnother(error, leave)) throw error;
      return await this.#end(record, release, cancel.signal.aborted ? new DeployCancelled() : error);
    } finally {
      unwatch();
      await release?.dispose();
    }
  }

  #gather(record: DeploymentRecord, endings: Endings): Promise<Release> {
    const write = (secrets: readonly string[]) => new LogWriter(this.em, record.now, { masker: new Masker(secrets) });
    return Release.gather(this.em, this.means, record, write, endings);
  }

  /** Over as many connections as it takes: after a cut it goes on with the step that was cut, which looks first. */
  async #goThrough(release: Release, steps: readonly DeployStep[]): Promise<void> {
    let next = 0;
    await withMachine(release, release.server.id, async machine => {
      for (; next < steps.length; next += 1) {
        const step = steps[next] as DeployStep;
        release.endings.leave.throwIfAborted();
        if (release.endings.cancelled.aborted && !isLive(release.record)) throw new DeployCancelled();
        if (await step.hasHappened(machine)) continue;
        await release.log.flush();
        await release.record.enter(step.phase, PHASE_WORDS[step.phase]);
        await step.run(machine);
      }
    });
  }

  async #end(record: DeploymentRecord, release: Release | undefined, error: unknown): Promise<Turn> {
    if (isLive(record)) return this.#endLive(record, release, error);
    const explained = masked(explainFailure(error, record.now.phase), release);
    if (explained.code === 'INTERNAL')
      this.log.error({ deploymentId: record.now.id, err: error }, 'A deployment failed');
    const isGone = release === undefined || (await this.#takeBack(release));
    const isCancelled = error instanceof DeployCancelled;
    // Cancelled is said when nothing of it runs any more, and not before.
    if (isCancelled && !isGone) return 'LATER';
    await release?.log.flush();
    await record.finish(isCancelled ? 'Cancelled' : explained.message, {
      status: isCancelled ? DeploymentStatus.CANCELLED : DeploymentStatus.FAILED,
      error: isCancelled ? null : explained,
      ...{
        image: null,
        images: [],
        variables: null,
        composition: null,
        hostPort: null,
        buildKey: null,
        hasLeftovers: !isGone,
      },
    });
    return 'DONE';
  }

  /** Traffic has moved: what still failed is old, and is cleared away later. */
  async #endLive(record: DeploymentRecord, release: Release | undefined, error: unknown): Promise<Turn> {
    this.log.error({ deploymentId: record.now.id, err: error }, 'What an old release left could not be cleared away');
    await release?.log.line('What the release before left could not be cleared away; it will be tried again');
    await release?.log.flush();
    await rememberLeftServer(record);
    await record.finish('Finished', { hasLeftovers: true });
    return 'DONE';
  }

  /** Says whether nothing is left of it. A server that stays away is cleared when it comes back. */
  async #takeBack(release: Release): Promise<boolean> {
    const steps = stepsOf(release).toReversed();
    try {
      await withMachine(release, release.server.id, async machine => {
        for (const step of steps) await step.undo(machine);
      });
      return true;
    } catch (error) {
      if (isForAnother(error, release.endings.leave)) throw error;
      if (!isOutOfReach(error)) this.log.error({ deploymentId: release.deployment.id, err: error }, NOT_CLEARED);
      return false;
    }
  }

  /** The wish is a row, the bell only says that there may be one. */
  async #watchCancel({ id }: Deployment, cancel: AbortController): Promise<() => void> {
    const look = async () => {
      const deployment = await this.em.fork().findOne(Deployment, id);
      if (deployment !== null && deployment.cancelAskedAt !== null) cancel.abort(new DeployCancelled());
    };
    const failed = (err: unknown) =>
      this.log.error({ deploymentId: id, err }, 'Whether it is cancelled could not be read');
    const unwatch = this.bell.watch(cancelDeploymentBell(id), () => void look().catch(failed));
    await look();
    return unwatch;
  }
}

const isLive = ({ now }: DeploymentRecord): boolean => now.status === DeploymentStatus.LIVE;

/** What a program or Docker said may bear what it was given to know. */
function masked(error: DeploymentError, release: Release | undefined): DeploymentError {
  const mask = (text: string) => release?.log.mask(text) ?? text;
  return { ...error, message: mask(error.message), hint: error.hint === null ? null : mask(error.hint) };
}

/** After a move it may be the server that was left which could not be cleared: it is visited when it is back. */
async function rememberLeftServer(record: DeploymentRecord): Promise<void> {
  const { id, serverId } = record.now;
  await record.change(async (_, unit) => {
    const elsewhere = { supersededBy: id, status: DeploymentStatus.SUPERSEDED, serverId: { $ne: serverId } };
    for (const each of await unit.em.find(Deployment, elsewhere)) each.hasLeftovers = each.serverId !== null;
  });
}

/** No fault of the deployment: it is not ours any more, or has to wait, and whoever takes it up next goes on with it. */
const isForAnother = (error: unknown, leave: AbortSignal): boolean =>
  error instanceof TakenOver || leave.aborted || isDatabaseAway(error);

const PHASE_WORDS: Readonly<Record<DeploymentPhase, string>> = {
  PREPARING: 'Preparing',
  BUILDING: 'Building',
  PRE_DEPLOY: 'Running the pre-deploy command',
  STARTING: 'Starting',
  VERIFYING: 'Waiting until it answers',
  SWITCHING: 'Moving traffic',
  DRAINING: 'Letting the release before finish',
};

const GIVEN_UP = new DeployFailure(
  'INTERNAL',
  'The service stopped each time it worked on this',
  'The log of the service has the details; deploy again once they are mended.',
);

const NOT_CLEARED = 'What a deployment left could not be cleared away';
