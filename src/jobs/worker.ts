import type { Handlers, JobContext, JobName, Jobs } from './jobs.ts';
import { jobNames, jobRules } from './jobs.ts';
import type { Queue } from './queue.ts';

/** New jobs ring. Tries that come due and jobs of the dead do not: for those somebody has to look. */
const LOOK_SECONDS = 5;

interface Log {
  error(context: object, message: string): void;
}

/** Takes jobs and gives each to its handler. Anything thrown is a failed try, told in the log and tried again. */
export class Worker {
  constructor(
    private readonly queue: Queue,
    private readonly handlers: Handlers,
    private readonly log: Log,
  ) {}

  async start(): Promise<void> {
    for (const name of jobNames) await this.#serve(name);
  }

  async #serve<Name extends JobName>(name: Name): Promise<void> {
    const { concurrency, hasLanes } = jobRules[name];
    const options = {
      localConcurrency: concurrency,
      includeMetadata: true,
      pollingIntervalSeconds: 2,
      notifyPollingIntervalSeconds: LOOK_SECONDS,
      // Whoever has done a job looks for the next at once, and rests when there was none.
      burstWhenReadyExceeds: 1,
      // The head of a busy lane is passed by; that no two of a lane run at once is the index's to see to.
      ...(hasLanes ? { groupConcurrency: 1 } : {}),
    } as const;
    await this.queue.boss.work<Jobs[Name], void, typeof options>(name, options, async ([job]) => {
      if (job === undefined) return;
      const { signal, retryCount: attempt, retryLimit } = job;
      await this.#perform(name, job.data, { signal, attempt, isLastTry: attempt >= retryLimit });
    });
  }

  async #perform<Name extends JobName>(name: Name, payload: Jobs[Name], context: JobContext): Promise<void> {
    try {
      await this.handlers[name](payload, context);
    } catch (error) {
      this.log.error({ job: name, attempt: context.attempt, err: error }, 'A job failed');
      throw error;
    }
  }
}
