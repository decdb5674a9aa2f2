/** What a stranger's JSON, TOML or YAML may hold. Nothing in it is believed to have the shape its format promises. */
export type PlainObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is PlainObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One step, or a path of steps, into nested objects. Only own keys: `constructor` and `__proto__` are no settings. */
export function valueAt(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  );
}

export function objectAt(value: unknown, ...keys: readonly string[]): PlainObject {
  const inner = valueAt(value, ...keys);
  return isObject(inner) ? inner : {};
}

export function textAt(value: unknown, ...keys: readonly string[]): string | null {
  const inner = valueAt(value, ...keys);
  return typeof inner === 'string' && inner.trim() !== '' ? inner : null;
}

export function listAt(value: unknown, ...keys: readonly string[]): readonly unknown[] {
  const inner = valueAt(value, ...keys);
  return Array.isArray(inner) ? inner : [];
}

export const textsAt = (value: unknown, ...keys: readonly string[]): string[] =>
  listAt(value, ...keys).filter(item => typeof item === 'string');
