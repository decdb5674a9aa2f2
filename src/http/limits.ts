import type { Request, RequestHandler, Response } from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { slowDown } from 'express-slow-down';
import type { Rate } from '../config.ts';
import { type Counters, tooMany } from '../security/limits.ts';
import { callerOf } from './caller.ts';

const DELAY_STEP_MS = 50;
const LONGEST_DELAY_MS = 2000;

interface Rates {
  rateLimit: Rate | undefined;
  slowDown: Rate | undefined;
}

/**
 * The general budget: one counter row and one statement a request, whichever door. The slow-down does not
 * count again but reads what the limiter just counted.
 */
export function limits(counters: Counters, rates: Rates): RequestHandler[] {
  const handlers: RequestHandler[] = [];
  if (rates.rateLimit) handlers.push(limiter(counters, rates.rateLimit));
  if (rates.slowDown) handlers.push(brake(counters, rates.slowDown, rates.rateLimit !== undefined));
  return handlers;
}

/** All credentials of an account share its budget; without one, the address has its own. */
function budgetOf(_: Request, response: Response): string {
  const { viewer, facts } = callerOf(response);
  return viewer ? `general:user:${viewer.userId}` : `general:address:${facts.addressKey}`;
}

const limiter = (counters: Counters, { max, windowMs }: Rate): RequestHandler =>
  rateLimit({
    limit: max,
    windowMs,
    identifier: 'general',
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: budgetOf,
    store: new CounterStore(counters, windowMs),
    validate: false,
    handler: (request, _response, next) => {
      const { used, resetTime } = countedOf(request);
      next(tooMany({ hits: used, resetsAt: resetTime }));
    },
  });

const brake = (counters: Counters, { max, windowMs }: Rate, isCounted: boolean): RequestHandler =>
  slowDown({
    delayAfter: max,
    windowMs,
    delayMs: used => Math.min((used - max) * DELAY_STEP_MS, LONGEST_DELAY_MS),
    keyGenerator: isCounted
      ? request => spell(countedOf(request))
      : (request, response) => `slow:${budgetOf(request, response)}`,
    store: isCounted ? new CountedStore() : new CounterStore(counters, windowMs),
    validate: false,
  });

class CounterStore implements Store {
  readonly localKeys = false;

  constructor(
    private readonly counters: Counters,
    private readonly windowMs: number,
  ) {}

  async increment(key: string): Promise<{ totalHits: number; resetTime: Date }> {
    const { hits, resetsAt } = await this.counters.count(key, this.windowMs);
    return { totalHits: hits, resetTime: resetsAt };
  }

  /** A request once counted stays counted. */
  decrement(): void {}
  resetKey(): void {}
}

interface Counted {
  used: number;
  resetTime: Date;
}

const countedOf = (request: Request): Counted => (request as Request & { rateLimit: Counted }).rateLimit;
const spell = ({ used, resetTime }: Counted): string => `${used} ${resetTime.getTime()}`;

/** Its keys are the counts themselves. */
class CountedStore implements Store {
  increment(key: string): { totalHits: number; resetTime: Date } {
    const [totalHits = 0, reset = 0] = key.split(' ').map(Number);
    return { totalHits, resetTime: new Date(reset) };
  }

  decrement(): void {}
  resetKey(): void {}
}
