import 'reflect-metadata';
import { ormConfig } from '../../mikro-orm.config.ts';
import { Database } from '../../src/database/database.ts';
import { transact, type UnitOfWork } from '../../src/events/unit-of-work.ts';
import { type Handlers, type JobContext, type JobName, type Jobs, jobNames } from '../../src/jobs/jobs.ts';
import { Queue, type SendOptions } from '../../src/jobs/queue.ts';
import { Worker } from '../../src/jobs/worker.ts';
import { originOf } from './runs.ts';
import { silentLog, testConfig } from './settings.ts';

/** The queue and its workers on a database, with handlers of the test's. */
export class JobBench {
  private constructor(
    readonly database: Database,
    readonly queue: Queue,
  ) {}

  static async start(databaseUrl: string, handlers: Partial<Handlers> = {}, log = silentLog): Promise<JobBench> {
    const database = await Database.open(testConfig({ DATABASE_URL: databaseUrl }), ormConfig, log);
    const queue = new Queue(database.pool, database.listener, (message, err) => log.warn({ err }, message));
    await queue.start();
    await new Worker(queue, { ...idle, ...handlers }, log).start();
    return new JobBench(database, queue);
  }

  change<Result>(work: (unit: UnitOfWork) => Promise<Result>): Promise<Result> {
    return transact(this.database.orm.em, originOf(''), work);
  }

  send<Name extends JobName>(name: Name, payload: Jobs[Name], options: SendOptions = {}): Promise<void> {
    return this.change(unit => this.queue.enqueue(unit, name, payload, options));
  }

  async sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.database.pool.query<Row>(text, values)).rows;
  }

  async stop(): Promise<void> {
    await this.queue.stop(1000);
    await this.database.close();
  }
}

const idle = Object.fromEntries(jobNames.map(name => [name, async () => undefined])) as unknown as Handlers;

/** A handler that keeps what it was given and waits until it is told to go on. */
export class Gate<Name extends JobName> {
  readonly taken: { payload: Jobs[Name]; context: JobContext; open(): void; fail(): void }[] = [];
  #look: () => void = () => undefined;

  readonly handle = async (payload: Jobs[Name], context: JobContext): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.taken.push({ payload, context, open: resolve, fail: () => reject(new Error('told to fail')) });
    this.#look();
    await promise;
  };

  /** The one that was taken as the n-th, once it is. */
  async at(index: number): Promise<(typeof this.taken)[number]> {
    for (;;) {
      const found = this.taken[index];
      if (found !== undefined) return found;
      await new Promise<void>(resolve => {
        this.#look = resolve;
      });
    }
  }
}
