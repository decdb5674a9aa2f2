import { parse as parseJsonc } from 'jsonc-parser';
import { parse as parseTomlText } from 'smol-toml';
import { parseDocument } from 'yaml';
import { AnalysisFailure, type AnalysisFailureCode, printablePath } from '../analysis-failure.ts';

export type StructuredFormat = 'json' | 'toml' | 'yaml';

/** The value of a file, or why it has none. Abuse ends the analysis, a slip of the pen does not. */
export function parseStructured(format: StructuredFormat, text: string, file: string, nesting: number): unknown {
  if (nestingOf(text) > nesting) refuse('FILE_TOO_NESTED', `is nested more than ${nesting} deep`, file);
  if (format === 'json') return parseJson(text);
  return format === 'toml' ? parseTomlText(text) : parseYaml(text, file, nesting, false);
}

/** YAML whose whole numbers are exact, however long: as `bigint`. */
export function parseExactYaml(text: string, file: string, nesting: number): unknown {
  if (nestingOf(text) > nesting) refuse('FILE_TOO_NESTED', `is nested more than ${nesting} deep`, file);
  return parseYaml(text, file, nesting, true);
}

/** package.json is strict JSON, but deno.json, tsconfig.json and app.json have comments and trailing commas in the wild. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (fault) {
    const faults: unknown[] = [];
    const value: unknown = parseJsonc(text, faults as never[], { allowTrailingComma: true });
    if (faults.length > 0) throw fault;
    return value;
  }
}

/** The parser takes some ten milliseconds for a kilobyte made to be slow; nobody writes as much by hand. */
const mostYaml = 32 * 1024;

function parseYaml(text: string, file: string, nesting: number, intAsBigInt: boolean): unknown {
  if (text.length > mostYaml) refuse('FILE_TOO_LARGE', `is longer than ${mostYaml} characters`, file);
  if (indentationDepth(text) > nesting) refuse('FILE_TOO_NESTED', `is nested more than ${nesting} deep`, file);
  const quiet = { prettyErrors: false, logLevel: 'silent' } as const;
  const document = parseDocument(text, { merge: true, uniqueKeys: false, intAsBigInt, ...quiet });
  if (document.errors[0]) throw document.errors[0];
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (fault) {
    if (fault instanceof ReferenceError) refuse('YAML_ALIASES', 'repeats itself through too many aliases', file);
    throw fault;
  }
}

function refuse(code: AnalysisFailureCode, what: string, file: string): never {
  throw new AnalysisFailure(code, `${printablePath(file)} ${what}`, file);
}

/** Counts brackets without regard for strings: an honest file stays far below the limit either way. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === 0x5b || character === 0x7b) deepest = Math.max(deepest, ++depth);
    else if ((character === 0x5d || character === 0x7d) && depth > 0) depth -= 1;
  }
  return deepest;
}

/** The deepest line's indentation, and "- - - -" which nests without indenting. */
function indentationDepth(text: string): number {
  let deepest = 0;
  for (const line of text.split('\n')) {
    const marks = /^[ ?:-]*/.exec(line)?.[0] ?? '';
    const dashes = marks.split('').filter(mark => mark !== ' ').length;
    deepest = Math.max(deepest, dashes, (marks.length - dashes) / 4);
  }
  return deepest;
}
