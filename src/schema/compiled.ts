import { type DocumentNode, type ExecutionResult, execute, type GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { Context } from './context.ts';

type Variables = Record<string, unknown>;
type Run = (context: Context, variables: Variables) => Promise<ExecutionResult> | ExecutionResult;

const KEPT = 1000;

/**
 * Runs operations we know beforehand (REST routes, allow-listed ones) as compiled code. Never those of strangers:
 * compiling costs more than it saves the first time, and would be theirs to spend.
 */
export class CompiledOperations {
  readonly #runs = new LRUCache<DocumentNode, Run>({ max: KEPT });

  constructor(private readonly schema: GraphQLSchema) {}

  run(document: DocumentNode, context: Context, variables: Variables): Promise<ExecutionResult> | ExecutionResult {
    const known = this.#runs.get(document) ?? this.#compile(document);
    return known(context, variables);
  }

  #compile(document: DocumentNode): Run {
    const compiled = compileQuery(this.schema, document);
    const run: Run = isCompiledQuery(compiled)
      ? (context, variables) => compiled.query(undefined, context, variables)
      : (contextValue, variableValues) => execute({ schema: this.schema, document, contextValue, variableValues });
    this.#runs.set(document, run);
    return run;
  }
}
