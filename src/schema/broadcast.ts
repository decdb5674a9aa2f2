import {
  type DocumentNode,
  type GraphQLFormattedError,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  visit,
} from 'graphql';
import type { StoredStream, StreamItem } from '../events/stored-stream.ts';
import type { Scope } from '../services/scope.ts';
import { Audience, type Reader } from './audience.ts';

/** How a message is spelled on the wire. */
export interface Wire {
  name: string;
  frame(item: StreamItem, result: Result, field: string): Buffer | undefined;
  end: Buffer | undefined;
}

export interface Result {
  data?: Record<string, unknown> | null | undefined;
  errors?: readonly GraphQLFormattedError[] | undefined;
}

/** A subscription that was checked and is about to be listened to. */
export interface Subscription {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>>;
  scope: Scope;
}

/**
 * Serves stored streams. Readers who asked the same thing with the same rights form one audience: for them
 * an event is executed once, serialised once, and the same bytes are written to each.
 */
export class Broadcaster {
  readonly #audiences = new Map<string, Audience>();
  readonly #used = new WeakMap<OperationDefinitionNode, string[]>();
  readonly #ids = new WeakMap<DocumentNode, number>();
  #documents = 0;

  constructor(private readonly execute: (subscription: Subscription, event: object) => Promise<Result>) {}

  get readerCount(): number {
    return [...this.#audiences.values()].reduce((sum, audience) => sum + audience.size, 0);
  }

  /** Returns what makes the reader leave. */
  join(stream: StoredStream, subscription: Subscription, wire: Wire, reader: Reader): () => void {
    const key = this.#keyOf(stream, subscription, wire);
    const audience = this.#audiences.get(key) ?? this.#gather(key, stream, subscription, wire);
    return audience.join(reader, stream.start);
  }

  #gather(key: string, stream: StoredStream, subscription: Subscription, wire: Wire): Audience {
    const field = rootFieldOf(subscription.operation);
    const render = async (item: StreamItem) => wire.frame(item, await this.execute(subscription, item.value), field);
    const audience = new Audience(stream.source, render, wire.end, () => this.#audiences.delete(key));
    this.#audiences.set(key, audience);
    return audience;
  }

  /** Variables of the root field only choose the rows, which the source's key tells; those below it shape the answer. */
  #keyOf({ source }: StoredStream, { document, operation, variables, scope }: Subscription, wire: Wire): string {
    const { workspaceId, role, tokenScope, projectId, environmentId } = scope.viewer;
    const shape = this.#variablesBelow(document, operation).map(name => variables[name]);
    return JSON.stringify([
      wire.name,
      source.key,
      this.#idOf(document),
      operation.name?.value,
      shape,
      workspaceId,
      role,
      tokenScope,
      projectId,
      environmentId,
    ]);
  }

  #idOf(document: DocumentNode): number {
    const id = this.#ids.get(document) ?? ++this.#documents;
    this.#ids.set(document, id);
    return id;
  }

  #variablesBelow(document: DocumentNode, operation: OperationDefinitionNode): string[] {
    const known = this.#used.get(operation);
    if (known) return known;
    const names = new Set<string>();
    const collect = { Variable: ({ name }: { name: { value: string } }) => void names.add(name.value) };
    const below = (selection: SelectionNode): void => {
      if (selection.kind === Kind.INLINE_FRAGMENT) for (const inner of selection.selectionSet.selections) below(inner);
      else if (selection.kind === Kind.FIELD && selection.selectionSet) visit(selection.selectionSet, collect);
    };
    for (const selection of operation.selectionSet.selections) below(selection);
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) visit(definition, collect);
    }
    const found = [...names].sort();
    this.#used.set(operation, found);
    return found;
  }
}

/** A subscription has one root field; its alias is the name it answers by. */
function rootFieldOf({ selectionSet }: OperationDefinitionNode): string {
  const [selection] = selectionSet.selections;
  return selection?.kind === Kind.FIELD ? (selection.alias ?? selection.name).value : '';
}
