import { type GraphQLArgument, type GraphQLOutputType, getNamedType, isNonNullType, isObjectType } from 'graphql';
import type { Permission } from '../schema/authorize.ts';
import { type Constraints, constraintsOfField } from './openapi-constraints.ts';
import type { ErrorBook } from './openapi-errors.ts';
import type { Facts } from './openapi-facts.ts';
import { headersFor } from './openapi-headers.ts';
import { refer, type SchemaBook } from './openapi-schemas.ts';
import type { AnswerObject, JsonSchema, OperationObject, ParameterObject, Reference } from './openapi-types.ts';
import type { Route } from './routes.ts';

/** Where the parts that operations share are written down. */
export interface Books {
  schemas: SchemaBook;
  errors: ErrorBook;
}

/** One operation, from what is known about it. */
export function describeOperation(facts: Facts, books: Books): OperationObject {
  const { field, route } = facts;
  const constraints = constraintsOfField(facts.root, field.name);
  const parameters = parametersOf(facts, books, constraints);
  const body = bodyOf(facts, books, constraints);
  return {
    operationId: field.name,
    tags: [route.tag],
    summary: summaryOf(facts),
    description: [field.description, field.deprecationReason, ...notesOf(facts)].filter(Boolean).join('\n\n'),
    ...(field.deprecationReason ? { deprecated: true } : {}),
    security: securityOf(facts),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: { ...successesOf(facts, books), ...books.errors.answersFor(facts) },
  };
}

/** A stream at the path of an operation: one operation, which answers in two forms. */
export function withStream(
  operation: OperationObject,
  stream: OperationObject,
  { switchedBy = '' }: Route,
): OperationObject {
  const [answer, streamed] = [operation, stream].map(({ responses }) => responses[200] as AnswerObject);
  const content = { ...answer?.content, ...streamed?.content };
  const description = `${answer?.description} With \`${switchedBy}=true\`: ${streamed?.description}`;
  const asked: ParameterObject = {
    name: switchedBy,
    in: 'query',
    description: stream.summary,
    required: false,
    schema: { type: 'boolean', default: false },
  };
  return {
    ...operation,
    description: `${operation.description}\n\nWith \`${switchedBy}=true\`: ${stream.description}`,
    security: stream.security,
    parameters: [...(operation.parameters ?? []), asked],
    responses: { ...stream.responses, ...operation.responses, 200: { ...answer, description, content } },
  };
}

/** The first sentence, as a line in a list. A test asks for the descriptions that are missing. */
function summaryOf({ field }: Facts): string {
  if (!field.description) return field.name;
  return field.description.split(/(?<=[^A-Z])[.;:](?:\s|$)/, 1)[0] as string;
}

function notesOf({ permission, isStream, takesKey, resumes }: Facts): string[] {
  const rules: [boolean, string][] = [
    [true, permissionNote(permission)],
    [isStream, 'Each message is one `data:` line of JSON; a comment every 15 seconds keeps the connection awake.'],
    [resumes, 'Every message has an `id:`; `Last-Event-ID` or `after` resumes behind it with no gap and no repeat.'],
    [isStream, 'Swagger UI shows nothing before a stream ends: take its curl command instead.'],
    [takesKey, 'Send an `Idempotency-Key` to make it safe to repeat.'],
  ];
  return rules.flatMap(([holds, note]) => (holds ? [note] : []));
}

function permissionNote(permission: Permission): string {
  if (permission === 'open') return 'Needs no token.';
  const { role, scope, sessionOnly, inProject } = permission;
  const who = role === 'VIEWER' ? 'Any role' : role === 'MEMBER' ? 'MEMBER or OWNER' : 'OWNER only';
  const bound = inProject ? '' : ' and may not be bound to a project';
  return `${who}. ${sessionOnly ? 'Not for API tokens: sign in.' : `API tokens need the scope \`${scope}\`${bound}.`}`;
}

function securityOf({ permission, isStream, route }: Facts): OperationObject['security'] {
  if (permission === 'open') return [];
  return isStream && route.method === 'GET' ? [{ bearer: [] }, { ticket: [] }] : [{ bearer: [] }];
}

type ConstraintsOf = (name: string) => Constraints;
type Parameter = ParameterObject | Reference;

function parametersOf(facts: Facts, { schemas }: Books, constraints: ConstraintsOf): Parameter[] {
  const { args, takesKey, takesIfMatch, resumes } = facts;
  const named: [boolean, string][] = [
    [takesKey, 'IdempotencyKey'],
    [takesIfMatch, 'IfMatch'],
    [resumes, 'LastEventId'],
  ];
  return [
    ...args.path.map(arg => parameter(arg, 'path', schemas, constraints)),
    ...args.query.map(arg => parameter(arg, 'query', schemas, constraints)),
    ...named.flatMap(([holds, name]) => (holds ? [refer(name, 'parameters')] : [])),
  ];
}

function parameter(
  arg: GraphQLArgument,
  place: 'path' | 'query',
  schemas: SchemaBook,
  constraints: ConstraintsOf,
): ParameterObject {
  // There is no null in an address.
  const { keywords } = constraints(arg.name);
  const input = schemas.input(arg, { keywords, takesNull: false });
  const { description = defaultDescription(arg.name), deprecated, ...schema } = input;
  const isRequired = place === 'path' || (isNonNullType(arg.type) && arg.defaultValue === undefined);
  return {
    name: arg.name,
    in: place,
    ...(description ? { description } : {}),
    required: isRequired,
    ...(deprecated ? { deprecated } : {}),
    schema,
  };
}

const defaultDescription = (name: string): string | undefined =>
  name === 'id' ? 'The id of the resource.' : undefined;

function bodyOf(
  { field, args }: Facts,
  { schemas }: Books,
  constraints: ConstraintsOf,
): OperationObject['requestBody'] {
  if (args.body.length === 0) return undefined;
  const schema = schemas.closedObject(args.body, constraints);
  const name = `${field.name.charAt(0).toUpperCase()}${field.name.slice(1)}Body`;
  return {
    required: schema.required !== undefined,
    content: { 'application/json': { schema: schemas.add(name, schema) } },
  };
}

function successesOf(facts: Facts, { schemas }: Books): Record<string, AnswerObject> {
  const { field, isStream, route } = facts;
  const type = isStream ? 'text/event-stream' : 'application/json';
  const headers = headersFor(facts);
  const contentOf = (shown: GraphQLOutputType) => ({ [type]: { schema: shownAtRoot(schemas.output(shown)) } });
  const other = { headers, ...otherNote(facts, headers), content: contentOf(field.type) };
  return {
    ...(route.otherStatus ? { [route.otherStatus]: other } : {}),
    [route.status ?? 200]: { description: successNote(facts), headers, content: contentOf(madeType(facts)) },
  };
}

/** What is answered under the usual status: all of it, or the one field that was made. */
function madeType({ field, route: { made } }: Facts): GraphQLOutputType {
  const named = getNamedType(field.type);
  return made !== undefined && isObjectType(named) ? (named.getFields()[made]?.type ?? field.type) : field.type;
}

/** Where the other status means that nothing was made, there is no place to look for it. */
function otherNote({ route }: Facts, headers: AnswerObject['headers']): Omit<AnswerObject, 'content'> {
  if (route.otherMeaning === undefined) return { description: 'It was there and was changed.' };
  const { Location: _, ...others } = headers ?? {};
  return { description: route.otherMeaning, headers: others };
}

/** Single root fields are nullable so that one failure does not blank a screen; in REST a failure is a status. */
const shownAtRoot = (schema: JsonSchema): JsonSchema => schema.anyOf?.[0] ?? schema;

function successNote({ route, isList, isStream }: Facts): string {
  if (isStream) return 'The stream. The schema is that of the JSON in each message.';
  if (route.inOrder) return 'In the order in which it happened.';
  if (isList) return 'A page of the list, newest first.';
  if (route.status === 201) return 'It was made.';
  return route.status === 202 ? 'It was accepted and is on its way.' : 'Done.';
}
