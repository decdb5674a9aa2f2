import { createHash } from 'node:crypto';
import type { GraphQLField, GraphQLFieldResolver } from 'graphql';
import { DAY, fromNow } from '../clock.ts';
import { LOCK } from '../database/lock.ts';
import { IdempotentAnswer } from '../entities/idempotent-answer.ts';
import { DomainError, type ErrorCode } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Keyring } from '../security/keyring.ts';
import type { AnswerNotes, Scope } from '../services/scope.ts';
import { isPermission } from './authorize.ts';
import type { Context } from './context.ts';

type Resolve = GraphQLFieldResolver<unknown, Context>;

/** What a keyed request came to: a value, or a refusal worth repeating. */
type Outcome =
  | { value: unknown; status?: AnswerNotes['status'] }
  | { error: { code: ErrorCode; message: string; details: object } };

export const KEPT_MS = DAY;

/**
 * A mutation asked for under an Idempotency-Key takes effect once. Its answer is sealed and stored in the transaction of
 * its work, so there is no moment in which one exists without the other. Kept by account, field and key, for a day.
 */
export class Idempotency {
  constructor(private readonly keyring: Keyring) {}

  once(field: GraphQLField<unknown, Context>, resolve: Resolve): Resolve {
    if (!isKeyed(field)) return resolve;
    return (root, args, context, info) => {
      const key = context.scope.request.idempotencyKey;
      if (key === null) return resolve(root, args, context, info);
      return this.#answerOnce(field.name, key, args, context, () => resolve(root, args, context, info));
    };
  }

  async #answerOnce(field: string, key: string, args: object, context: Context, work: () => unknown): Promise<unknown> {
    const { scope } = context;
    const id = this.keyring.digest('idempotency', scope.viewer.userId, field, key);
    const bodyHash = createHash('sha256').update(canonical(args)).digest('base64url');
    const outcome = await scope.transact(async unit => {
      unit.repeat();
      const kept = await this.#claim(unit, id, bodyHash);
      scope.notes.isReplayed = kept !== undefined;
      return kept ?? this.#keep(unit, id, bodyHash, await attempt(scope, work));
    });
    if ('value' in outcome) {
      scope.notes.status = outcome.status;
      return outcome.value;
    }
    throw new DomainError(outcome.error.code, outcome.error.message, outcome.error.details);
  }

  /** The lock is the transaction's: it goes when the work commits, fails, or dies with its process. */
  async #claim(unit: UnitOfWork, id: string, bodyHash: string): Promise<Outcome | undefined> {
    const [lock] = await unit.em.execute<{ taken: boolean }[]>(
      'select pg_try_advisory_xact_lock(?, hashtext(?)) as taken',
      [LOCK.idempotency, id],
    );
    if (!lock?.taken) throw new DomainError('IDEMPOTENCY_RUNNING', 'The first request with this key is still running');
    await unit.em.nativeDelete(IdempotentAnswer, { id, createdAt: { $lte: fromNow(-KEPT_MS) } });
    const kept = await unit.em.findOne(IdempotentAnswer, { id });
    if (kept === null) return undefined;
    if (kept.bodyHash !== bodyHash) {
      throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'This key was used for another request; use a new key for each');
    }
    return JSON.parse(this.keyring.open(kept.answer, place(id)));
  }

  #keep(unit: UnitOfWork, id: string, bodyHash: string, outcome: Outcome): Outcome {
    const { workspaceId } = unit.origin;
    if (workspaceId === null) throw new TypeError('an anonymous request has no idempotency');
    const answer = this.keyring.seal(JSON.stringify(outcome), place(id));
    unit.em.create(IdempotentAnswer, { id, workspaceId, bodyHash, answer });
    return outcome;
  }
}

/** A refusal takes back what its work did, and is kept by the same transaction that holds the key. */
async function attempt(scope: Scope, work: () => unknown): Promise<Outcome> {
  try {
    const value = plain(await scope.nested(async () => work()));
    return { value, status: scope.notes.status };
  } catch (error) {
    if (!isWorthKeeping(error)) throw error;
    const { code, message, details } = error;
    return { error: { code, message, details } };
  }
}

/** Sign-in and what only a signed-in person may do is never kept: it all lies under `/auth`. */
export function isKeyed({ extensions }: { extensions: Readonly<Record<string, unknown>> }): boolean {
  const { permission, idempotency } = extensions;
  return isPermission(permission) && permission !== 'open' && !permission.sessionOnly && idempotency !== 'never';
}

/** Refusals that would be the same the next time. What may pass by itself is tried anew. */
function isWorthKeeping(error: unknown): error is DomainError {
  return error instanceof DomainError && ![401, 429].includes(error.status) && error.status < 500;
}

const place = (id: string) => ({ table: 'idempotent_answer', row: id, column: 'answer' });

/** Entities become plain rows, hidden properties and all relations left behind. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
