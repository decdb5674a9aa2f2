import type { AnalysisResult } from '../../src/analysis/analysis-result.ts';
import { type AnalysisOptions, analyzeSnapshot } from '../../src/analysis/analyze.ts';
import type { Snapshot, SnapshotEntry } from '../../src/analysis/snapshot/snapshot.ts';

/** A repository as small as a test needs it: names and what is in them. Objects are written as JSON. */
export type Files = Readonly<Record<string, string | Uint8Array | object>>;

export class MemorySnapshot implements Snapshot {
  readonly #files: ReadonlyMap<string, Uint8Array>;
  readonly #links: readonly string[];
  readonly reads: string[] = [];

  constructor(files: Files, links: readonly string[] = []) {
    this.#files = new Map(Object.entries(files).map(([path, content]) => [path, bytesOf(content)]));
    this.#links = links;
  }

  async *entries(): AsyncIterable<SnapshotEntry> {
    for (const [path, bytes] of this.#files) yield { path, kind: 'file', size: bytes.length };
    for (const path of this.#links) yield { path, kind: 'symlink', size: 0 };
  }

  async read(path: string, maxBytes: number): Promise<Uint8Array | null> {
    this.reads.push(path);
    return this.#files.get(path)?.slice(0, maxBytes) ?? null;
  }
}

function bytesOf(content: string | Uint8Array | object): Uint8Array {
  if (content instanceof Uint8Array) return content;
  return new TextEncoder().encode(typeof content === 'string' ? content : JSON.stringify(content));
}

export const analyze = (files: Files, options: AnalysisOptions = {}): Promise<AnalysisResult> =>
  analyzeSnapshot(new MemorySnapshot(files), options);

/** One row of a table: a repository and what must be found in it. */
export interface Row {
  readonly it: string;
  readonly files: Files;
  readonly found: Partial<AnalysisResult>;
}

export async function expectRow({ files, found }: Row): Promise<void> {
  const result = await analyze(files);
  expect(Object.fromEntries(Object.keys(found).map(key => [key, result[key as keyof AnalysisResult]]))).toEqual(found);
}
