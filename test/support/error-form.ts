import { errorStatus } from '../../src/errors.ts';

/** What an answer that failed has to look like; what is wrong with one, in words. */
export function formFaults(http: number, contentType: string, text: string, isGraphql: boolean): string[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return [`no JSON: ${text.slice(0, 80)}`];
  }
  if (isGraphql) return graphqlFaults(http, contentType, json as GraphqlBody);
  const faults = problemFaults(http, json as Problem);
  return contentType === 'application/problem+json; charset=utf-8' ? faults : [...faults, `type is ${contentType}`];
}

interface Problem {
  type: unknown;
  title: unknown;
  status: unknown;
  detail: unknown;
  code: unknown;
  instance: unknown;
  requestId: unknown;
  fields?: unknown;
}

interface GraphqlBody {
  data?: unknown;
  errors?: { message: unknown; extensions?: Problem }[];
}

function problemFaults(http: number, problem: Problem): string[] {
  const { type, title, status, detail, instance } = problem;
  const texts = { type, title, detail, instance };
  const missing = Object.entries(texts).filter(([, value]) => typeof value !== 'string' || value === '');
  return [
    ...missing.map(([name]) => `no ${name}`),
    ...(status === http ? [] : [`status ${status} in an answer of ${http}`]),
    ...sharedFaults(problem),
  ];
}

function graphqlFaults(http: number, contentType: string, { data, errors }: GraphqlBody): string[] {
  if (!contentType.startsWith('application/json')) return [`type is ${contentType}`];
  if (!Array.isArray(errors) || errors.length === 0) return data === undefined ? ['neither data nor errors'] : [];
  const faults = errors.flatMap(({ message, extensions }) => [
    ...(typeof message === 'string' && message !== '' ? [] : ['no message']),
    ...(extensions ? sharedFaults(extensions) : ['no extensions']),
  ]);
  const whole = [400, 401, 404, 405, 413, 415, 429, 503];
  return http === 200 || whole.includes(http) ? faults : [...faults, `an HTTP status of ${http}`];
}

function sharedFaults({ code, status, requestId, fields }: Problem): string[] {
  const faults: string[] = [];
  const expected = errorStatus[code as keyof typeof errorStatus];
  if (expected === undefined) faults.push(`unknown code ${String(code)}`);
  else if (expected !== status) faults.push(`${String(code)} with status ${String(status)}`);
  if (typeof requestId !== 'string' || requestId === '') faults.push('no requestId');
  if (fields !== undefined && !isFieldList(fields)) faults.push('fields are no list of {field, message}');
  if (typeof status === 'number' && status >= 500 && status !== 502) faults.push(`status ${status}`);
  return faults;
}

const isFieldList = (fields: unknown): boolean =>
  Array.isArray(fields) &&
  fields.every(({ field, message }: { field: unknown; message: unknown }) => {
    return typeof field === 'string' && /^[\x20-\x7e]{0,64}$/.test(field) && typeof message === 'string';
  });

/** Words that only our own inside uses. */
export const INSIDES =
  /node_modules|\bat [\w.<>]+ \(|\.ts:\d+|\.js:\d+|select .* from|insert into|duplicate key|violates|relation "|ECONN|SQLSTATE|mikro-?orm|postgres|TypeError|undefined is not/i;
