import type { GraphQLSchema } from 'graphql';
import { budgetSchema, ErrorBook, errorCodeSchema, fieldFaultSchema, problemSchema } from './openapi-errors.ts';
import { factsOf } from './openapi-facts.ts';
import { headers, requestHeaders } from './openapi-headers.ts';
import { describeHook, HOOK_PATH } from './openapi-hooks.ts';
import { info, securitySchemes } from './openapi-info.ts';
import { type Books, describeOperation, withStream } from './openapi-operations.ts';
import { refer, SchemaBook } from './openapi-schemas.ts';
import type { OpenApiDocument, PathItem } from './openapi-types.ts';
import { BASE_PATH, createOperations } from './rest.ts';
import { restView, streamView } from './rest-view.ts';
import { type Route, type RouteName, routeEntries } from './routes.ts';
import { tags } from './tags.ts';

/** As much of SOFA's document as is worth taking. */
interface SofaDocument {
  paths: Record<string, Record<string, { tags?: string[]; responses: Record<string, unknown> }>>;
}

/**
 * OpenAPI 3.1 for the REST face. SOFA says which routes it serves, under which tag and status; the rest of what it
 * says is wrong or missing (ids, nulls, dates, bodies that are also query strings, refusals, streams), so it is told anew
 * from the same sources the answers come from: schema, route table, permissions, and the checks of the input classes.
 */
export function describeRest(schema: GraphQLSchema): OpenApiDocument {
  const sofa = createOperations(restView(schema)).openApi as SofaDocument;
  const view = streamView(schema);
  const books: Books = { schemas: new SchemaBook(), errors: new ErrorBook() };
  const paths: Record<string, PathItem> = {};
  for (const [name, route] of routeEntries) {
    if (!name.startsWith('Subscription.')) checkServed(sofa, name, route);
    const operation = describeOperation(factsOf(view, name, route), books);
    const item = paths[braced(route.path)] ?? {};
    const there = item[methodOf(route)];
    item[methodOf(route)] = there ? withStream(there, operation, route) : operation;
    paths[braced(route.path)] = item;
  }
  paths[HOOK_PATH] = { post: describeHook(books) };
  books.schemas.add('Problem', problemSchema);
  books.schemas.add('FieldFault', fieldFaultSchema);
  books.schemas.add('Budget', budgetSchema);
  books.schemas.add('ErrorCode', errorCodeSchema);
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: BASE_PATH, description: 'This installation.' }],
    tags: usedTags(),
    paths,
    components: componentsFor(paths, books),
  };
}

function componentsFor(paths: OpenApiDocument['paths'], { schemas, errors }: Books): OpenApiDocument['components'] {
  const mentions = JSON.stringify([paths, errors.answers]);
  const used = <Part>(section: string, parts: Readonly<Record<string, Part>>): Record<string, Part> =>
    Object.fromEntries(Object.entries(parts).filter(([name]) => mentions.includes(`"${refer(name, section).$ref}"`)));
  return {
    schemas: schemas.schemas,
    responses: errors.answers,
    headers: used('headers', headers),
    parameters: used('parameters', requestHeaders),
    securitySchemes,
  };
}

/** What we describe is what SOFA serves. */
function checkServed(sofa: SofaDocument, name: RouteName, route: Route): void {
  const served = sofa.paths[braced(route.path)]?.[methodOf(route)];
  const status = String(route.status ?? 200);
  if (served === undefined) throw new Error(`SOFA serves no ${route.method} ${route.path} for ${name}`);
  if (!(status in served.responses)) throw new Error(`SOFA does not answer ${name} by ${status}`);
}

const braced = (path: string): string => path.replace(/:(\w+)/g, '{$1}');
const methodOf = ({ method }: Route): keyof PathItem => method.toLowerCase() as keyof PathItem;

function usedTags(): OpenApiDocument['tags'] {
  const used = new Set<string>(routeEntries.map(([, { tag }]) => tag));
  return Object.entries(tags).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : []));
}
