import { getMetadataStorage } from 'type-graphql';

interface FieldMark {
  target: object;
  name: string;
  schemaName: string;
}

const marks = new Map<object, readonly FieldMark[]>();

/** A resource's own fields as its GET answer names them: what is marked as a field, and nothing else. */
export function describe(entity: object): Record<string, unknown> {
  const fields = marksOf(entity.constructor);
  const values = fields.map(
    ({ name, schemaName }) => [schemaName, plain(entity[name as keyof typeof entity])] as const,
  );
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Type and id, as the audit trail names a resource. */
export const nameOf = (entity: { id: string }): string => `${entity.constructor.name}:${entity.id}`;

function marksOf(type: object): readonly FieldMark[] {
  const known = marks.get(type);
  if (known) return known;
  const storage = getMetadataStorage() as unknown as { fields: FieldMark[] };
  const found = lineage(type).flatMap(ancestor => storage.fields.filter(({ target }) => target === ancestor));
  marks.set(type, found);
  return found;
}

function lineage(type: object): object[] {
  const parent: unknown = Object.getPrototypeOf(type);
  return typeof parent === 'function' && parent.name !== '' ? [type, ...lineage(parent)] : [type];
}

const plain = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);
