import { type DocumentNode, type ExecutionResult, execute, type GraphQLSchema, isEnumType } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { Context } from './context.ts';

type Variables = Record<string, unknown>;
type Run = (context: Context, variables: Variables) => Promise<ExecutionResult> | ExecutionResult;

/** All routes, a whole manifest and what is frequent. */
const KEPT = 1500;

/**
 * Runs operations we know (REST routes, allow-listed and frequent ones) as compiled code. Never those of strangers:
 * compiling costs more than it saves the first times, and would be theirs to spend.
 */
export class CompiledOperations {
  readonly #runs = new LRUCache<DocumentNode, Run>({ max: KEPT });

  readonly #options: { disableLeafSerialization: boolean };

  constructor(private readonly schema: GraphQLSchema) {
    this.#options = { disableLeafSerialization: areEnumsTheirNames(schema) };
  }

  run(document: DocumentNode, context: Context, variables: Variables): Promise<ExecutionResult> | ExecutionResult {
    const known = this.#runs.get(document) ?? this.#compile(document);
    return known(context, variables);
  }

  #compile(document: DocumentNode): Run {
    const compiled = compileQuery(this.schema, document, undefined, this.#options);
    const run: Run = isCompiledQuery(compiled)
      ? (context, variables) => compiled.query(undefined, context, variables)
      : (contextValue, variableValues) => execute({ schema: this.schema, document, contextValue, variableValues });
    this.#runs.set(document, run);
    return run;
  }
}

/**
 * Rows hold texts, numbers and booleans as the schema's built-in scalars show them: to convert each of them to itself takes longer than
 * all the rest of a list. With enums it is the same as long as each value is its own name. Our own scalars are always asked.
 */
export const areEnumsTheirNames = (schema: GraphQLSchema): boolean =>
  Object.values(schema.getTypeMap())
    .filter(type => isEnumType(type))
    .flatMap(type => type.getValues())
    .every(({ name, value }) => name === value);
