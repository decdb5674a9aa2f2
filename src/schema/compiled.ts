import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  isEnumType,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { Context } from './context.ts';

type Variables = Record<string, unknown>;
type Run = (context: Context, variables: Variables) => Promise<ExecutionResult> | ExecutionResult;

/** All routes, a whole manifest and what is frequent. */
const KEPT = 1500;
const MOST_FAULTS = 50;

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
      ? (context, variables) => {
          const result = compiled.query(undefined, context, variables);
          // Variables are looked at before anything is waited for.
          if (result instanceof Promise || result.data !== undefined) return result;
          return { errors: this.#faultsOf(document, variables) ?? result.errors };
        }
      : (contextValue, variableValues) => execute({ schema: this.schema, document, contextValue, variableValues });
    this.#runs.set(document, run);
    return run;
  }

  /** What is wrong with variables, in graphql-js's words: compiled code names the innermost field alone. */
  #faultsOf(document: DocumentNode, variables: Variables): readonly GraphQLError[] | undefined {
    const definitions = getOperationAST(document)?.variableDefinitions ?? [];
    return getVariableValues(this.schema, definitions, variables, { maxErrors: MOST_FAULTS }).errors;
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
