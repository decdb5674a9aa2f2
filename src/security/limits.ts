import { createHash } from 'node:crypto';
import { clock, SECOND } from '../clock.ts';
import type { Rate } from '../config.ts';
import { DomainError, type Limit } from '../errors.ts';

export interface Count {
  hits: number;
  resetsAt: Date;
}

/** Asks the database, with parameters as $1, $2, $3. */
export type Query = (text: string, values: unknown[]) => Promise<{ hits: number; resetsAt: string | Date }[]>;

const COUNT = `
insert into rate_counter as counter (key, hits, resets_at) values ($1, 1, $3::timestamptz)
on conflict (key) do update set
  hits = case when counter.resets_at <= $2::timestamptz then 1 else counter.hits + 1 end,
  resets_at = case when counter.resets_at <= $2::timestamptz then $3::timestamptz else counter.resets_at end
returning hits, resets_at as "resetsAt"`;

/** Counts requests in the database, so that limits hold across instances and restarts: one statement each. */
export class Counters {
  constructor(private readonly query: Query) {}

  /** Inside a transaction by its own `query`: what is rolled back was not counted. */
  async count(key: string, windowMs: number, query = this.query): Promise<Count> {
    const now = clock.now();
    const [row] = await query(COUNT, [key, now, new Date(now.getTime() + windowMs)]);
    if (row === undefined) throw new TypeError('the counter did not answer');
    return { hits: row.hits, resetsAt: new Date(row.resetsAt) };
  }
}

/** The sign-in family's budget, per address and per e-mail address, whichever door it is spent at. */
export class SignInLimits {
  constructor(
    private readonly counters: Counters,
    private readonly perAddress: Rate | undefined,
    private readonly perEmail: Rate | undefined,
  ) {}

  async spend(addressKey: string, email: string | undefined): Promise<void> {
    await this.#spend(`auth:address:${addressKey}`, 'sign-in', this.perAddress);
    if (email !== undefined) await this.#spend(`auth:email:${digest(email)}`, 'sign-in-email', this.perEmail);
  }

  /** How many one-time codes may go to one mailbox; not a setting, and never off. Only codes that are sent count. */
  async spendCode(email: string, rate: Rate, query: Query): Promise<void> {
    await this.#spend(`auth:code:${digest(email)}`, 'codes', rate, query);
  }

  async #spend(key: string, name: string, rate: Rate | undefined, query?: Query): Promise<void> {
    if (rate === undefined) return;
    const { max, windowMs } = rate;
    const count = await this.counters.count(key, windowMs, query);
    if (count.hits > max) throw tooMany(count, { name, max, windowSeconds: Math.ceil(windowMs / SECOND) });
  }
}

export function tooMany({ resetsAt }: Count, limit?: Limit): DomainError {
  const retryAfterSeconds = Math.max(1, Math.ceil((resetsAt.getTime() - clock.now().getTime()) / SECOND));
  return new DomainError('RATE_LIMITED', `Too many requests; try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
    limit,
  });
}

const digest = (email: string): string => createHash('sha256').update(email).digest('base64url');
