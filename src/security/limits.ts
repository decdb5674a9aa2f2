import { createHash } from 'node:crypto';
import { clock, SECOND } from '../clock.ts';
import type { Rate } from '../config.ts';
import { DomainError } from '../errors.ts';

export interface Count {
  hits: number;
  resetsAt: Date;
}

type Query = (text: string, values: unknown[]) => Promise<{ key: string; hits: number; resetsAt: string }[]>;

const COUNT = `
insert into rate_counter as counter (key, hits, resets_at)
select key, 1, $3::timestamptz from unnest($1::text[]) as key order by key
on conflict (key) do update set
  hits = case when counter.resets_at <= $2 then 1 else counter.hits + 1 end,
  resets_at = case when counter.resets_at <= $2 then $3 else counter.resets_at end
returning key, hits, resets_at as "resetsAt"`;

/** Counts requests in the database, so that limits hold across instances and restarts: one statement, whatever is counted. */
export class Counters {
  constructor(private readonly query: Query) {}

  async count(keys: readonly string[], windowMs: number): Promise<Map<string, Count>> {
    const now = clock.now();
    const rows = await this.query(COUNT, [keys, now, new Date(now.getTime() + windowMs)]);
    return new Map(rows.map(({ key, hits, resetsAt }) => [key, { hits, resetsAt: new Date(resetsAt) }]));
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
    await this.#spend(`auth:address:${addressKey}`, this.perAddress);
    if (email !== undefined) await this.#spend(`auth:email:${digest(email)}`, this.perEmail);
  }

  async #spend(key: string, rate: Rate | undefined): Promise<void> {
    if (rate === undefined) return;
    const count = (await this.counters.count([key], rate.windowMs)).get(key);
    if (count !== undefined && count.hits > rate.max) throw tooMany(count);
  }

  /** How many one-time codes may go to one mailbox; not a setting, and never off. */
  async spendCode(email: string, max: number, windowMs: number): Promise<void> {
    const key = `auth:code:${digest(email)}`;
    const count = (await this.counters.count([key], windowMs)).get(key);
    if (count !== undefined && count.hits > max) throw tooMany(count);
  }
}

export function tooMany({ resetsAt }: Count): DomainError {
  const retryAfterSeconds = Math.max(1, Math.ceil((resetsAt.getTime() - clock.now().getTime()) / SECOND));
  return new DomainError('RATE_LIMITED', `Too many requests; try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });
}

const digest = (email: string): string => createHash('sha256').update(email).digest('base64url');
