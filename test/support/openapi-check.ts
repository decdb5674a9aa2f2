import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type {
  AnswerObject,
  HeaderObject,
  JsonSchema,
  OpenApiDocument,
  OperationObject,
  Reference,
} from '../../src/rest/openapi-types.ts';

export interface CheckedAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

export interface FoundOperation {
  method: string;
  path: string;
  operation: OperationObject;
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

const PREFIX = '/api/v1';

/**
 * Holds live answers against the document: status, headers, media type and body. Stricter than the document in one point: a field
 * it does not list is a fault, since then it does not tell everything.
 */
export class OpenApiCheck {
  readonly #seen = new Map<string, Set<number>>();
  readonly #ajv = addFormats.default(new Ajv2020({ allErrors: true, strict: false }));
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(readonly document: OpenApiDocument) {
    const closed = structuredClone(document);
    for (const schema of Object.values(closed.components.schemas)) close(schema);
    this.#ajv.addSchema({ $id: 'document:', ...closed });
  }

  /** From the service itself, as a caller would get it. */
  static async of({ url }: { url: string }): Promise<OpenApiCheck> {
    return new OpenApiCheck((await (await fetch(`${url}/api/docs/openapi.json`)).json()) as OpenApiDocument);
  }

  /** Throws what is wrong with an answer; `path` is the one asked for, with or without the prefix and a query. */
  check(method: string, path: string, answer: CheckedAnswer): void {
    const { operation, path: template, method: verb } = this.find(method, path);
    const { operationId } = operation;
    const place = below('#', 'paths', template, verb, 'responses', String(answer.status));
    const documented = operation.responses[answer.status];
    const faults =
      documented === undefined
        ? [`the status ${answer.status} is not in the document: ${JSON.stringify(answer.body)}`]
        : this.#faultsOf(documented, place, answer);
    if (faults.length > 0)
      throw new Error(`${operationId} (${method} ${path}) answers otherwise:\n${faults.join('\n')}`);
    this.#seen.set(operationId, (this.#seen.get(operationId) ?? new Set()).add(answer.status));
  }

  /** One message of a stream. */
  checkMessage(method: string, path: string, message: unknown): void {
    const found = this.find(method, path);
    const responses = below('#', 'paths', found.path, found.method, 'responses');
    const place = below(responses, '200', 'content', 'text/event-stream', 'schema');
    const faults = this.#schemaFaults(place, message);
    if (faults.length > 0) throw new Error(`${found.operation.operationId} sends otherwise:\n${faults.join('\n')}`);
  }

  find(method: string, path: string): FoundOperation {
    const asked = path.replace(/\?.*$/, '').replace(PREFIX, '').split('/');
    const templates = Object.keys(this.document.paths)
      .filter(template => matches(template.split('/'), asked))
      .sort((a, b) => count(a) - count(b));
    const verb = method.toLowerCase() as Method;
    const operation = templates[0] === undefined ? undefined : this.document.paths[templates[0]]?.[verb];
    if (operation === undefined) throw new Error(`${method} ${path} is not in the document`);
    return { method: verb, path: templates[0] as string, operation };
  }

  operations(): FoundOperation[] {
    return Object.entries(this.document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
    );
  }

  /** Operations that have not been seen to succeed. */
  undriven(): string[] {
    const isDriven = (id: string) => [...(this.#seen.get(id) ?? [])].some(status => status < 300);
    return this.operations().flatMap(({ operation: { operationId } }) => (isDriven(operationId) ? [] : [operationId]));
  }

  statusesOf(operationId: string): number[] {
    return [...(this.#seen.get(operationId) ?? [])].sort();
  }

  #faultsOf(documented: AnswerObject | Reference, place: string, { headers, body }: CheckedAnswer): string[] {
    const [response, home] = this.#resolve<AnswerObject>(documented, place);
    const type = headers.get('content-type')?.split(';')[0] ?? '';
    const faults = this.#headerFaults(response, home, headers);
    if (!(type in response.content)) return [...faults, `the media type ${type} is not in the document`];
    if (type === 'text/event-stream') return faults;
    return [...faults, ...this.#schemaFaults(below(home, 'content', type, 'schema'), body)];
  }

  #headerFaults({ headers: documented = {} }: AnswerObject, home: string, headers: Headers): string[] {
    return Object.entries(documented).flatMap(([name, reference]) => {
      const [header, place] = this.#resolve<HeaderObject>(reference, below(home, 'headers', name));
      const value = headers.get(name);
      if (value === null) return header.required ? [`the header ${name} is missing`] : [];
      const typed = header.schema.type === 'integer' ? Number(value) : value;
      return this.#schemaFaults(below(place, 'schema'), typed).map(fault => `the header ${name}: ${fault}`);
    });
  }

  #resolve<Part>(part: Part | Reference, place: string): [Part, string] {
    if (!('$ref' in (part as object))) return [part as Part, place];
    const { $ref } = part as Reference;
    const [, , section = '', name = ''] = $ref.split('/');
    const components = this.document.components as unknown as Record<string, Record<string, Part>>;
    const found = components[section]?.[name];
    if (found === undefined) throw new Error(`${$ref} leads nowhere`);
    return [found, $ref];
  }

  #schemaFaults(place: string, value: unknown): string[] {
    const validate = this.#validators.get(place) ?? this.#ajv.compile({ $ref: `document:${place}` });
    this.#validators.set(place, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || 'it'} ${message} ${JSON.stringify(params)}`,
    );
  }
}

/** Objects take no fields but those listed. */
function close(schema: JsonSchema): void {
  if (schema.properties && schema.additionalProperties === undefined) schema.additionalProperties = false;
}

const matches = (template: string[], asked: string[]): boolean =>
  template.length === asked.length && template.every((part, i) => part.startsWith('{') || part === asked[i]);

const count = (template: string): number => template.split('{').length;

/** A JSON pointer, as a fragment. */
const below = (place: string, ...parts: string[]): string =>
  [place, ...parts.map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))].join('/');
