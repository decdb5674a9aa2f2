import {
  createSourceEventStream,
  type DocumentNode,
  execute,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../errors.ts';
import type { Scope } from '../services/scope.ts';
import type { Result, Subscription } from './broadcast.ts';
import type { ContextFactory } from './context.ts';
import type { ErrorPresenter } from './present-errors.ts';
import { checkOperation } from './rules/check-operation.ts';
import { QUERY_LIMITS, type Variables } from './rules/query-limits.ts';
import { allRules } from './rules/validation-rules.ts';

export interface OperationRequest {
  query: string;
  operationName?: string | null | undefined;
  variables?: Variables;
}

/** Parses, checks and starts operations for the doors that are not Apollo's. */
export class Operations {
  readonly #checked = new LRUCache<string, DocumentNode>({ max: 1000 });

  constructor(
    readonly schema: GraphQLSchema,
    private readonly options: { hasIntrospection: boolean },
    private readonly makeContext: ContextFactory,
    private readonly errors: ErrorPresenter,
  ) {}

  prepare({ query, operationName, variables }: OperationRequest, scope: Scope): Subscription {
    const document = this.#checked.get(query) ?? this.#check(query);
    const operation = getOperationAST(document, operationName);
    if (!operation) throw new DomainError('QUERY_INVALID', 'Name the operation to run in operationName');
    checkOperation(this.schema, document, operation, variables, scope);
    return { document, operation, variables: variables ?? {}, scope };
  }

  /** The rows or messages behind a subscription. What it is refused for is thrown, before anything is answered. */
  async open({ document, operation, variables, scope }: Subscription): Promise<AsyncIterable<unknown>> {
    const opened = await createSourceEventStream({
      schema: this.schema,
      document,
      operationName: operation.name?.value,
      variableValues: variables,
      contextValue: this.makeContext(scope),
    });
    if (Symbol.asyncIterator in opened) return opened;
    throw opened.errors?.[0] ?? new DomainError('INTERNAL', 'The stream could not be opened');
  }

  async execute({ document, operation, variables, scope }: Subscription, rootValue?: unknown): Promise<Result> {
    const { requestId } = scope.request;
    const { data, errors } = await execute({
      schema: this.schema,
      document,
      operationName: operation.name?.value,
      variableValues: variables,
      contextValue: this.makeContext(scope),
      rootValue,
    });
    return errors === undefined
      ? { data }
      : { data, errors: errors.map(error => this.errors.present(error, requestId)) };
  }

  isSubscription = ({ operation }: { operation: OperationDefinitionNode }): boolean =>
    operation.operation === 'subscription';

  #check(query: string): DocumentNode {
    const document = parse(query, { maxTokens: QUERY_LIMITS.tokens });
    const hideSuggestions = !this.options.hasIntrospection;
    const [fault] = validate(this.schema, document, allRules(this.options), { hideSuggestions });
    if (fault) throw fault;
    this.#checked.set(query, document);
    return document;
  }
}
