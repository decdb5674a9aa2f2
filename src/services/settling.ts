import { randomUUID } from 'node:crypto';
import { SECOND } from '../clock.ts';
import type { Listener } from '../database/listener.ts';
import type { Rows } from '../database/rows.ts';

const ASK = 'slipway_settle';
const ANSWER = 'slipway_settled';

/** An instance that does not answer in time is no longer waited for; what it remembers runs out by itself. */
const PATIENCE_MS = 2 * SECOND;

/** Every instance listens by one connection of this name. */
const ASK_ALL = `
select pg_notify('${ASK}', $1), (select count(*)::int from pg_stat_activity
  where application_name = 'slipway listener' and datname = current_database()) as instances`;

interface Waiting {
  heard: number;
  wanted: number;
  done: () => void;
}

/**
 * Instances remember who a credential stands for and forget it when the database rings. Bells are heard in the order of
 * commits, so an instance that has heard a question asked after a change has heard of the change: when all have
 * answered, what was ended has ended everywhere.
 */
export class Settling {
  readonly #waiting = new Map<string, Waiting>();

  constructor(
    private readonly rows: Rows,
    private readonly listener: Listener,
    private readonly warn: (message: string, error: unknown) => void,
  ) {}

  async start(): Promise<void> {
    await this.listener.listen(ANSWER, nonce => this.#count(nonce));
    await this.listener.listen(ASK, nonce => this.#answer(nonce));
  }

  /** Asked after the change was committed. It holds whatever comes of this, so nothing is thrown. */
  async everywhere(): Promise<void> {
    const nonce = randomUUID();
    const settled = new Promise<void>(resolve => {
      this.#waiting.set(nonce, { heard: 0, wanted: Number.POSITIVE_INFINITY, done: resolve });
      setTimeout(resolve, PATIENCE_MS).unref();
    });
    try {
      const [row] = await this.rows.query<{ instances: number }>(ASK_ALL, [nonce]);
      const waiting = this.#waiting.get(nonce) as Waiting;
      waiting.wanted = Math.max(1, row?.instances ?? 1);
      if (waiting.heard >= waiting.wanted) waiting.done();
      await settled;
    } catch (error) {
      this.warn('The other instances could not be asked whether they heard of a change', error);
    } finally {
      this.#waiting.delete(nonce);
    }
  }

  #answer(nonce: string): void {
    if (this.#waiting.has(nonce)) this.#count(nonce);
    else
      this.rows
        .query(`select pg_notify('${ANSWER}', $1)`, [nonce])
        .catch(error => this.warn('Another instance could not be answered', error));
  }

  #count(nonce: string): void {
    const waiting = this.#waiting.get(nonce);
    if (waiting === undefined) return;
    waiting.heard += 1;
    if (waiting.heard >= waiting.wanted) waiting.done();
  }
}
