import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { type Route, type RouteName, routes } from '../../src/rest/routes.ts';
import type { TestApp } from './create-app.ts';
import { testSchema } from './schema.ts';

export const DOORS = ['rest', 'graphql', 'stream'] as const;
export type Door = (typeof DOORS)[number];

/** What a call came to, said alike for every door. */
export interface Outcome {
  /** What the answer means: the status of REST, and of a GraphQL error its `extensions.status`. */
  status: number;
  /** The status of the HTTP answer itself. */
  http: number;
  code: string | undefined;
  detail: string | undefined;
  fields: { field: string; message: string }[] | undefined;
  challenge: string | undefined;
  value: unknown;
  headers: Headers;
  /** All that came back, headers and body, to search in. */
  text: string;
}

export interface CallOptions {
  token?: string | undefined;
  headers?: Record<string, string>;
}

type Args = Record<string, unknown>;

/** Calls one root field by name with the same arguments at any of the three doors. */
export class ThreeDoors {
  private constructor(
    private readonly app: Pick<TestApp, 'url'>,
    readonly schema: GraphQLSchema,
  ) {}

  static async of(app: Pick<TestApp, 'url'>): Promise<ThreeDoors> {
    return new ThreeDoors(app, await testSchema());
  }

  /** The same doors of another instance. */
  at(app: Pick<TestApp, 'url'>): ThreeDoors {
    return new ThreeDoors(app, this.schema);
  }

  call(door: Door, name: RouteName, args: Args = {}, options: CallOptions = {}): Promise<Outcome> {
    if (door === 'rest') return this.#rest(routes[name], args, options);
    const query = operationFor(this.schema, name, Object.keys(args));
    return this.send(door, { query, variables: args }, options);
  }

  /** Any operation, at the GraphQL door or at its stream. */
  async send(door: 'graphql' | 'stream', operation: unknown, options: CallOptions = {}): Promise<Outcome> {
    const path = door === 'graphql' ? '/graphql' : '/graphql/stream';
    const init = { method: 'POST', body: typeof operation === 'string' ? operation : JSON.stringify(operation) };
    return readOutcome(await this.#fetch(path, init, { 'content-type': 'application/json' }, options));
  }

  async #rest(route: Route, args: Args, options: CallOptions): Promise<Outcome> {
    const rest: Args = { ...args, ...(route.switchedBy ? { [route.switchedBy]: true } : {}) };
    const path = route.path.replace(/:(\w+)/g, (_, name: string) => {
      const value = encodeURIComponent(String(rest[name] ?? ''));
      delete rest[name];
      return value;
    });
    const hasBody = route.method !== 'GET' && route.method !== 'DELETE';
    const url = `/api/v1${path}${hasBody ? '' : queryString(rest)}`;
    const init = { method: route.method, ...(hasBody ? { body: JSON.stringify(rest) } : {}) };
    return readOutcome(await this.#fetch(url, init, hasBody ? { 'content-type': 'application/json' } : {}, options));
  }

  #fetch(path: string, init: RequestInit, own: Record<string, string>, { token, headers }: CallOptions) {
    const bearer: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return fetch(this.app.url + path, { ...init, headers: { ...own, ...bearer, ...headers } });
  }
}

function queryString(args: Args): string {
  const parameters = Object.entries(args).map(([name, value]) => [name, String(value)]);
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`;
}

/** An operation of one root field with the given arguments, selecting all that is no relation. */
export function operationFor(schema: GraphQLSchema, name: RouteName, given: readonly string[]): string {
  const [type = '', fieldName = ''] = name.split('.');
  const root = schema.getType(type) as unknown as { getFields(): Record<string, GraphQLField<unknown, unknown>> };
  const field = root.getFields()[fieldName] as GraphQLField<unknown, unknown>;
  const args = field.args.filter(arg => given.includes(arg.name));
  const declared = args.length === 0 ? '' : `(${args.map(arg => `$${arg.name}: ${arg.type}`).join(', ')})`;
  const passed = args.length === 0 ? '' : `(${args.map(arg => `${arg.name}: $${arg.name}`).join(', ')})`;
  return `${type.toLowerCase()} ${declared} { ${fieldName}${passed} ${selectionOf(getNamedType(field.type))} }`;
}

function selectionOf(type: GraphQLNamedType, depth = 0): string {
  if (!isObjectType(type)) return isScalarType(type) || isEnumType(type) ? '' : '{ __typename }';
  const fields = Object.values(type.getFields()).flatMap(({ name, type: fieldType }) => {
    const named = getNamedType(fieldType);
    if (isScalarType(named) || isEnumType(named)) return [name];
    return isObjectType(named) && depth === 0 ? [`${name} ${selectionOf(named, 1)}`] : [];
  });
  return `{ ${fields.join(' ')} }`;
}

/** Reads to the end, but for a stream that stays open: of that only the head. */
async function readOutcome(response: Response): Promise<Outcome> {
  const { status: http, headers } = response;
  const head = JSON.stringify([...headers]);
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const body = isStream ? await readStream(response) : await response.text();
  const text = `${head}\n${body}`;
  const plain = { status: http, http, headers, text, code: undefined, detail: undefined };
  const nothing = { ...plain, fields: undefined, challenge: undefined, value: undefined };
  if (body === undefined || body === '') return nothing;
  const json = (isStream ? JSON.parse(/^data: (\{.*\})$/m.exec(body)?.[1] ?? '{}') : JSON.parse(body)) as Json;
  const [error] = json.errors ?? [];
  if (error) {
    const { code, status, fields, challenge } = error.extensions ?? {};
    return { ...nothing, status: status ?? http, code, fields, challenge, detail: error.message };
  }
  if (json.data) return { ...nothing, value: Object.values(json.data)[0] };
  const { code, fields, challenge, detail } = json;
  return http < 400 ? { ...nothing, value: json } : { ...nothing, code, fields, challenge, detail };
}

interface Json {
  errors?: { message: string; extensions?: { code: string; status: number } & Pick<Outcome, 'fields' | 'challenge'> }[];
  data?: Record<string, unknown>;
  code?: string;
  detail?: string;
  fields?: Outcome['fields'];
  challenge?: string;
}

/** A finished operation ends with `complete`; a subscription says nothing at first, and is left. */
async function readStream(response: Response): Promise<string | undefined> {
  let text = '';
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
    if (text.startsWith('retry:')) {
      await reader.cancel();
      return undefined;
    }
  }
}
