import type { Response } from 'express';
import { writeText } from '../schema/write-text.ts';
import type { AnswerNotes } from '../services/scope.ts';
import { BASE_PATH, type Operation } from './rest.ts';
import type { Route } from './routes.ts';

type Plain = Record<string, unknown>;

/** Writes what an operation came to: status, body, and the headers that tell of it. */
export function answer(
  response: Response,
  { route, field }: Operation,
  data: Plain | null | undefined,
  notes: AnswerNotes,
  query: URLSearchParams,
): void {
  const value = madeIn(data?.[field], route);
  if (Array.isArray(value)) linkNext(response, value as Plain[], notes, query);
  else describeOne(response, value as Plain, placeOf(route, notes));
  if (notes.warnings?.length) response.setHeader('X-Warnings', notes.warnings.map(printable).join('; '));
  const body = JSON.stringify(value);
  response.statusCode = notes.status ?? route.status ?? 200;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  writeText(response, body);
}

function madeIn(value: unknown, { made }: Route): unknown {
  return (made === undefined ? undefined : (value as Plain)[made]) ?? value;
}

/** Where there was nothing to make there is nothing to look at next. */
const placeOf = ({ location, otherStatus }: Route, { status }: AnswerNotes): string | undefined =>
  status !== undefined && status === otherStatus ? undefined : location;

/** While there is more, the page after this one has an address. */
function linkNext(
  response: Response,
  rows: Plain[],
  { hasMore, nextCursor }: AnswerNotes,
  query: URLSearchParams,
): void {
  const last = nextCursor ?? rows.at(-1)?.id;
  if (!hasMore || typeof last !== 'string') return;
  const [path] = response.req.originalUrl.split('?', 1);
  query.set('after', last);
  response.setHeader('Link', `<${path}?${query}>; rel="next"`);
}

function describeOne(response: Response, value: Plain, location: string | undefined): void {
  if (typeof value?.version === 'number') response.setHeader('ETag', `"${value.version}"`);
  const names = [...(location ?? '').matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  // What was not made has no place.
  if (location === undefined || names.some(name => value[name] == null)) return;
  response.setHeader('Location', BASE_PATH + location.replace(/:(\w+)/g, (_, name: string) => String(value[name])));
}

/** Headers are ASCII, and labels are people's: whatever else is in them becomes a question mark. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?');
