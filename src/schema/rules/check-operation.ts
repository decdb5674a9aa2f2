import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { Invalid } from '../../errors.ts';
import type { Scope } from '../../services/scope.ts';
import { deprecationIn } from './deprecated-parts.ts';
import { checkQueryLimits, countRootFields, type Variables } from './query-limits.ts';

/** What every GraphQL door asks of a validated operation before it runs. */
export function checkOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
  { request, notes }: Scope,
): void {
  notes.deprecation = deprecationIn(schema, document, variables);
  checkQueryLimits(schema, document, operation, variables);
  const isKeyed = request.idempotencyKey !== null && operation.operation === OperationTypeNode.MUTATION;
  if (isKeyed && countRootFields(document, operation) > 1) {
    throw new Invalid({ field: 'Idempotency-Key', message: 'goes with one mutation field in a request' });
  }
}
