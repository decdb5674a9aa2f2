import { AnalysisFailure, type AnalysisFailureCode } from '../analysis-failure.ts';
import type { Deadline } from '../snapshot/collect-entries.ts';
import type { SnapshotEntry } from '../snapshot/snapshot.ts';
import { parseStructured, type StructuredFormat } from './structured-text.ts';
import { parseXml, type XmlElement } from './xml-text.ts';

/** A file that was there and could not be used, and why. */
export interface Refusal {
  readonly file: string;
  readonly code: AnalysisFailureCode;
  readonly message: string;
}

export interface Bounds {
  readonly nesting: number;
  readonly deadline: Deadline;
}

/** A repository as the rules see it: its whole listing and the text of the files that were read. Nothing here waits. */
export class Repository {
  /** What the repository is called, for the few tools that name their program after its folder. */
  readonly name: string;
  readonly refusals: Refusal[] = [];
  /** Sorted, so that the files of a folder stand together. */
  readonly paths: readonly string[];
  /** Those of them that were read. */
  readonly readPaths: readonly string[];
  readonly folders: ReadonlySet<string>;
  readonly #files: ReadonlySet<string>;
  readonly #links: ReadonlySet<string>;
  readonly #texts: ReadonlyMap<string, string>;
  readonly #nesting: number;
  readonly #deadline: Deadline;
  readonly #parsed = new Map<string, unknown>();

  constructor(
    name: string,
    entries: readonly SnapshotEntry[],
    texts: ReadonlyMap<string, string>,
    { nesting, deadline }: Bounds,
  ) {
    this.name = name;
    this.paths = entries.flatMap(({ path, kind }) => (kind === 'file' ? [path] : [])).sort();
    this.#files = new Set(this.paths);
    this.#links = new Set(entries.flatMap(({ path, kind }) => (kind === 'symlink' ? [path] : [])));
    this.folders = foldersOf(entries);
    this.#texts = texts;
    this.readPaths = [...texts.keys()].sort();
    this.#nesting = nesting;
    this.#deadline = deadline;
  }

  hasFile(path: string): boolean {
    return this.#files.has(path);
  }

  isLink(path: string): boolean {
    return this.#links.has(path);
  }

  text(path: string): string | null {
    return this.#texts.get(path) ?? null;
  }

  parsed(format: StructuredFormat, path: string): unknown {
    return this.#once(`${format}:${path}`, path, text => parseStructured(format, text, path, this.#nesting));
  }

  xml(path: string): XmlElement | null {
    return this.#once(`xml:${path}`, path, text => parseXml(text, this.#nesting)) as XmlElement | null;
  }

  refuse(file: string, code: AnalysisFailureCode, message: string): void {
    this.refusals.push({ file, code, message });
  }

  #once(key: string, path: string, parse: (text: string) => unknown): unknown {
    if (!this.#parsed.has(key)) this.#parsed.set(key, this.#attempt(path, parse));
    return this.#parsed.get(key);
  }

  #attempt(path: string, parse: (text: string) => unknown): unknown {
    const text = this.text(path);
    if (text === null || isBlank(text)) return null;
    this.#deadline.check();
    try {
      return parse(text);
    } catch (fault) {
      if (fault instanceof AnalysisFailure && fault.code !== 'FILE_TOO_LARGE') throw fault;
      if (fault instanceof AnalysisFailure) this.refuse(path, fault.code, fault.message);
      else this.refuse(path, 'FILE_MALFORMED', `${path} could not be understood`);
      return null;
    }
  }
}

/** An empty settings file is a valid one that sets nothing. */
const isBlank = (text: string): boolean => text.trim() === '';

function foldersOf(entries: readonly SnapshotEntry[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const { path, kind } of entries) {
    if (kind === 'folder') folders.add(path);
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
      const folder = path.slice(0, cut);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}
