import type {
  AnswerObject,
  JsonSchema,
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  PathItem,
  Reference,
} from '../../src/rest/openapi-types.ts';
import { SchemaBreaks } from './schema-breaks.ts';

/**
 * What a caller of `before` could stumble over in `after`: an operation, a field or a value that is gone, something that is
 * required or refused now, an answer that may be what it never was. Additions are none.
 */
export function breakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  return new Comparison(before, after).find();
}

class Comparison {
  readonly #schemas: SchemaBreaks;

  constructor(
    private readonly before: OpenApiDocument,
    private readonly after: OpenApiDocument,
  ) {
    this.#schemas = new SchemaBreaks(before, after);
  }

  find(): string[] {
    return Object.entries(this.before.paths).flatMap(([path, item]) =>
      (Object.keys(item) as (keyof PathItem)[]).flatMap(method => {
        const place = `${method.toUpperCase()} ${path}`;
        const old = item[method];
        const now = this.after.paths[path]?.[method];
        if (old === undefined) return [];
        return now === undefined ? [`${place}: is gone`] : this.#operationFaults(place, old, now);
      }),
    );
  }

  #operationFaults(place: string, old: OperationObject, now: OperationObject): string[] {
    return [
      ...(old.operationId === now.operationId ? [] : [`${place}: its id changed`]),
      ...securityFaults(old, now).map(fault => `${place}: ${fault}`),
      ...this.#parameterFaults(place, old, now),
      ...this.#bodyFaults(place, old, now),
      ...this.#answerFaults(place, old, now),
    ];
  }

  #parameterFaults(place: string, old: OperationObject, now: OperationObject): string[] {
    const earlier = parametersOf(old, this.before);
    const later = parametersOf(now, this.after);
    const changed = [...earlier].flatMap(([name, parameter]) => {
      const other = later.get(name);
      if (other === undefined) return [`${place} ${name}: is gone`];
      const faults = this.#schemas.find('sent', parameter.schema, other.schema, `${place} ${name}`);
      return !parameter.required && other.required ? [...faults, `${place} ${name}: is required now`] : faults;
    });
    const added = [...later].filter(([name, { required }]) => required && !earlier.has(name));
    return [...changed, ...added.map(([name]) => `${place} ${name}: is required now`)];
  }

  #bodyFaults(place: string, { requestBody: old }: OperationObject, { requestBody: now }: OperationObject): string[] {
    if (old === undefined) return now?.required ? [`${place} body: is required now`] : [];
    if (now === undefined) return [`${place} body: is gone`];
    const faults = this.#contentFaults('sent', old.content, now.content, `${place} body`);
    return !old.required && now.required ? [...faults, `${place} body: is required now`] : faults;
  }

  /** Successes alone: refusals are a matter of codes, and a new one may always come. */
  #answerFaults(place: string, old: OperationObject, now: OperationObject): string[] {
    const successes = Object.entries(old.responses).filter(([status]) => status.startsWith('2'));
    return successes.flatMap(([status, answer]) => {
      const other = now.responses[status];
      const where = `${place} ${status}`;
      if (other === undefined) return [`${where}: is gone`];
      const [earlier, later] = [answer as AnswerObject, other as AnswerObject];
      const headers = Object.keys(earlier.headers ?? {}).filter(name => !(name in (later.headers ?? {})));
      return [
        ...headers.map(name => `${where} ${name}: is gone`),
        ...this.#contentFaults('shown', earlier.content, later.content, where),
      ];
    });
  }

  #contentFaults(direction: 'sent' | 'shown', old: Content, now: Content, place: string): string[] {
    return Object.entries(old).flatMap(([type, { schema }]) => {
      const other = now[type];
      return other === undefined
        ? [`${place} ${type}: is gone`]
        : this.#schemas.find(direction, schema, other.schema, place);
    });
  }
}

type Content = Record<string, { schema: JsonSchema }>;

/** Every way to prove oneself that was good must still be. No need to is a way, too. */
function securityFaults({ security: old }: OperationObject, { security: now }: OperationObject): string[] {
  const names = (security: OperationObject['security']) =>
    security.length === 0 ? ['nothing'] : security.map(scheme => Object.keys(scheme).join('+'));
  if (now.length === 0) return [];
  return names(old).flatMap(name => (names(now).includes(name) ? [] : [`${name} is not enough now`]));
}

function parametersOf({ parameters = [] }: OperationObject, document: OpenApiDocument): Map<string, ParameterObject> {
  const found = parameters.map(parameter => ('$ref' in parameter ? follow(parameter, document) : parameter));
  return new Map(found.map(parameter => [`${parameter.in} ${parameter.name}`, parameter]));
}

function follow({ $ref }: Reference, { components }: OpenApiDocument): ParameterObject {
  const found = components.parameters[$ref.split('/').at(-1) ?? ''];
  if (found === undefined) throw new Error(`${$ref} leads nowhere`);
  return found;
}
