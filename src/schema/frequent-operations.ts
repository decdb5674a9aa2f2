import { type DocumentNode, getOperationAST } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { RegisteredOperation } from './persisted-operations.ts';

/** Compiling costs as much as a few runs: after so many it is a small part of what was spent, whoever it was that asked. */
const FREQUENT = 30;
const LONGEST = 10_000;
const COUNTED = 1000;
const KEPT = 200;

/**
 * Operations that are asked for again and again by people who are signed in. Front ends repeat theirs; to parse, validate and interpret
 * them each time would be most of the work. Both caches are bounded, in number and in the length of a text.
 */
export class FrequentOperations {
  readonly #counts = new LRUCache<string, number>({ max: COUNTED });
  readonly #known = new LRUCache<string, RegisteredOperation>({ max: KEPT });

  find(text: unknown): RegisteredOperation | undefined {
    return typeof text === 'string' && text.length <= LONGEST ? this.#known.get(text) : undefined;
  }

  /** The document is one that was found valid. */
  count(text: string, document: DocumentNode): void {
    const operation = getOperationAST(document);
    if (!operation || text.length > LONGEST) return;
    const times = (this.#counts.get(text) ?? 0) + 1;
    this.#counts.set(text, times);
    if (times < FREQUENT) return;
    this.#counts.delete(text);
    this.#known.set(text, { text, document, operation });
  }
}
