import { readFileSync } from 'node:fs';
import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { ConfigFault } from '../config.ts';
import { hashText } from '../security/token.ts';

interface Manifest {
  operations: { id: string; body: string }[];
}

const AUTOMATIC_BYTES = 8 * 1024 * 1024;
const MOST = 1000;

export interface RegisteredOperation {
  text: string;
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

/**
 * Operations a front end registered beforehand, from a manifest as Apollo's tools write it (`PERSISTED_OPERATIONS`). They are
 * compiled. Beside them, automatic persisted queries are remembered in a bounded cache and run as usual.
 */
export class PersistedOperations {
  readonly #listed: ReadonlyMap<string, RegisteredOperation>;
  readonly #automatic = new LRUCache<string, string>({
    maxSize: AUTOMATIC_BYTES,
    sizeCalculation: text => text.length + 1,
  });

  constructor(listed: ReadonlyMap<string, RegisteredOperation> = new Map()) {
    this.#listed = listed;
  }

  find(hash: unknown): RegisteredOperation | undefined {
    return this.#listed.get(hash as string);
  }

  get(key: string): Promise<string | undefined> {
    const hash = key.replace(/^apq:/, '');
    return Promise.resolve(this.#listed.get(hash)?.text ?? this.#automatic.get(hash));
  }

  set(key: string, text: string): Promise<void> {
    this.#automatic.set(key.replace(/^apq:/, ''), text);
    return Promise.resolve();
  }

  delete(key: string): Promise<boolean> {
    return Promise.resolve(this.#automatic.delete(key.replace(/^apq:/, '')));
  }
}

/** A manifest that does not fit the schema stops the start: its front end would fail later, one screen at a time. */
export function readPersistedOperations(file: string | undefined, schema: GraphQLSchema): PersistedOperations {
  if (file === undefined) return new PersistedOperations();
  const faults: string[] = [];
  const registered = new Map<string, RegisteredOperation>();
  const { operations } = readManifest(file);
  if (operations.length > MOST) faults.push(`PERSISTED_OPERATIONS: has more than ${MOST} operations`);
  for (const { id, body } of operations.slice(0, MOST)) {
    if (hashText(body) !== id)
      faults.push(`PERSISTED_OPERATIONS: the id of ${id.slice(0, 16)}… is not the SHA-256 of its body`);
    else {
      const known = register(schema, body);
      if (known) registered.set(id, known);
      else faults.push(`PERSISTED_OPERATIONS: ${id.slice(0, 16)}… is not one query or mutation that fits the schema`);
    }
  }
  if (faults.length > 0) throw new ConfigFault(faults);
  return new PersistedOperations(registered);
}

function register(schema: GraphQLSchema, text: string): RegisteredOperation | undefined {
  const document = parsed(text);
  const operation = document && getOperationAST(document);
  const isGood = operation && operation.operation !== 'subscription' && validate(schema, document).length === 0;
  return isGood ? { text, document, operation } : undefined;
}

function parsed(text: string): DocumentNode | undefined {
  try {
    return parse(text);
  } catch {
    // A text that is not GraphQL fits no schema; whoever asked says so.
    return undefined;
  }
}

function readManifest(file: string): Manifest {
  try {
    const { operations } = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    const isGood = operations.every(({ id, body }) => typeof id === 'string' && typeof body === 'string');
    if (isGood) return { operations };
  } catch {
    // Whatever is wrong with it, the remedy is the same.
  }
  throw new ConfigFault(['PERSISTED_OPERATIONS: names a file that is no manifest of operations, or cannot be read']);
}
