import type { GraphQLField } from 'graphql';
import { Extensions } from 'type-graphql';
import type { ErrorCode } from '../errors.ts';

/**
 * Refusals of a root field's own. Those that follow from its permission, its arguments or its route need no mention:
 * see `rest/openapi-errors.ts`. The document lists both, and a test meets every answer with the document.
 */
export const Raises = (...codes: ErrorCode[]) => Extensions({ raises: codes });

export const raisedBy = ({ extensions }: GraphQLField<unknown, unknown>): readonly ErrorCode[] =>
  (extensions.raises as ErrorCode[] | undefined) ?? [];
