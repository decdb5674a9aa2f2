import { randomUUID } from 'node:crypto';
import type { OperationObject, ParameterObject, Reference } from '../../../src/rest/openapi-types.ts';
import type { Person, TestApp } from '../../support/create-app.ts';
import type { Answer } from '../../support/doors.ts';
import type { OpenApiCheck } from '../../support/openapi-check.ts';

/** A request that succeeds: what stands in the path, the query and the body. */
export interface Sample {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Whoever drives, unless told otherwise; null for nobody. */
  token?: string | null;
}

interface Raw extends Omit<Sample, 'body'> {
  body?: unknown;
}

type Refusal = [title: string, status: number, change: Raw];

const BIG = 'x'.repeat(1_100_000);

/**
 * Calls operations by their ids and holds every answer against the document. Before an operation is let succeed, it is
 * asked for all the refusals that follow from what the document says about it.
 */
export class Driver {
  constructor(
    readonly app: TestApp,
    readonly check: OpenApiCheck,
    readonly person: Person,
    /** The weakest credential there is. */
    private readonly weakToken: string,
  ) {}

  /** First the refusals, then the success, then, where a key makes it safe, the success again. */
  async drive<Body = never>(operationId: string, sample: Sample = {}): Promise<Answer<Body>> {
    const { operation } = this.#find(operationId);
    for (const [title, status, change] of this.#refusals(operation, sample)) {
      await this.refuse(operationId, status, { ...sample, ...change }, title);
    }
    if (!takes(operation, 'IdempotencyKey')) return this.#succeed<Body>(operationId, sample);
    const keyed = { ...sample, headers: { 'idempotency-key': randomUUID(), ...sample.headers } };
    const first = await this.#succeed<Body>(operationId, keyed);
    const again = await this.#succeed<Body>(operationId, keyed);
    if (again.headers.get('idempotency-replayed') !== 'true') throw new Error(`${operationId} was not given again`);
    await this.refuse(
      operationId,
      422,
      { ...keyed, ...this.#otherwise(operation, sample) },
      'the key for something else',
    );
    return first;
  }

  /** A refusal that the sample itself brings about. */
  async refuse(operationId: string, status: number, sample: Raw, title = ''): Promise<Answer<Problem>> {
    const answer = await this.#call<Problem>(operationId, sample);
    if (answer.status === status) return answer;
    throw new Error(`${operationId}, ${title}: ${answer.status} instead of ${status}\n${JSON.stringify(answer.body)}`);
  }

  urlOf(operationId: string, { params = {}, query = {} }: Raw): string {
    const path = this.#find(operationId).path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    );
    const text = new URLSearchParams(query).toString();
    return text === '' ? path : `${path}?${text}`;
  }

  async #succeed<Body>(operationId: string, sample: Sample): Promise<Answer<Body>> {
    const answer = await this.#call<Body>(operationId, sample);
    if (answer.status < 300) return answer;
    throw new Error(`${operationId} should have succeeded: ${answer.status}\n${JSON.stringify(answer.body)}`);
  }

  async #call<Body>(operationId: string, sample: Raw): Promise<Answer<Body>> {
    const method = this.#find(operationId).method.toUpperCase();
    const path = this.urlOf(operationId, sample);
    const token = sample.token === undefined ? this.person.token : (sample.token ?? undefined);
    const { body, headers } = sample;
    const answer = await this.app.rest<Body>(method, path, { token, body, ...(headers ? { headers } : {}) });
    this.check.check(method, path, answer);
    return answer;
  }

  /** The same request about something else: another id, or a text that is no choice among given ones. */
  #otherwise({ requestBody }: OperationObject, { params, body }: Sample): Raw {
    const [name] = Object.keys(params ?? {});
    if (name !== undefined) return { params: { ...params, [name]: randomUUID() } };
    const { $ref = '' } = requestBody?.content['application/json']?.schema ?? {};
    const { properties = {} } = this.check.document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {};
    const isText = (field: string) => [properties[field]?.type].flat().includes('string');
    const [field = '', text] = Object.entries(body ?? {}).find(([key]) => isText(key)) ?? [];
    return { body: { ...body, [field]: `x${text}` } };
  }

  #find(operationId: string) {
    const found = this.check.operations().find(({ operation }) => operation.operationId === operationId);
    if (found === undefined) throw new Error(`there is no operation ${operationId}`);
    return found;
  }

  /** What every operation of its kind refuses, by the document's own word. */
  #refusals(operation: OperationObject, sample: Sample): Refusal[] {
    const { query, headers } = sample;
    const refusals: Refusal[] = [
      ['an unknown name', 400, { query: { ...query, colour: 'blue' } }],
      ['a bad token', 401, { token: 'nonsense' }],
    ];
    if (operation.security.length > 0) refusals.push(['no token', 401, { token: null }]);
    if (allows(operation, 'Forbidden')) refusals.push(['a weak token', 403, { token: this.weakToken }]);
    if (takes(operation, 'IfMatch'))
      refusals.push(['an old version', 412, { headers: { ...headers, 'if-match': '"9999"' } }]);
    return [...refusals, ...idRefusals(operation, sample), ...bodyRefusals(operation, sample)];
  }
}

interface Problem {
  code: string;
  challenge?: string;
}

function idRefusals({ parameters = [] }: OperationObject, { params }: Sample): Refusal[] {
  const inPath = parameters.filter(
    (parameter): parameter is ParameterObject => 'in' in parameter && parameter.in === 'path',
  );
  const ids = inPath.filter(({ schema }) => schema.format === 'uuid');
  return ids.flatMap(({ name }): Refusal[] => [
    [`${name} malformed`, 400, { params: { ...params, [name]: 'not-an-id' } }],
    [`${name} unknown`, 404, { params: { ...params, [name]: randomUUID() } }],
  ]);
}

function bodyRefusals({ requestBody }: OperationObject, { body, headers }: Sample): Refusal[] {
  if (requestBody === undefined) return [];
  const json = { ...headers, 'content-type': 'application/json' };
  return [
    ['an unknown field', 400, { body: { ...body, colour: 'blue' } }],
    ['no JSON', 400, { body: '{', headers: json }],
    ['no object', 400, { body: '[]', headers: json }],
    ['another media type', 415, { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'text/plain' } }],
    ['a body too large', 413, { body: JSON.stringify({ ...body, colour: BIG }), headers: json }],
  ];
}

const isReference = (part: object, name: string): boolean =>
  '$ref' in part && (part as Reference).$ref.split('/').at(-1) === name;

const takes = ({ parameters = [] }: OperationObject, name: string): boolean =>
  parameters.some(parameter => isReference(parameter, name));

const allows = ({ responses }: OperationObject, name: string): boolean =>
  Object.values(responses).some(
    response => '$ref' in response && response.$ref.split('/').at(-1)?.split('Or').includes(name),
  );
