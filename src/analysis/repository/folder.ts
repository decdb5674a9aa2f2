import type { Repository } from './repository.ts';
import type { XmlElement } from './xml-text.ts';

/** One folder of a repository, seen from inside: all names are relative to it. */
export class Folder {
  readonly repository: Repository;
  /** From the root of the repository; empty for the root itself. */
  readonly path: string;
  #files: readonly string[] | null = null;
  #names: readonly string[] | null = null;
  #readFiles: readonly string[] | null = null;

  constructor(repository: Repository, path = '') {
    this.repository = repository;
    this.path = path;
  }

  /** The name as the repository's owner knows it, for evidence. */
  where(name: string): string {
    return this.path === '' ? name : `${this.path}/${name}`;
  }

  has(name: string): boolean {
    return this.repository.hasFile(this.where(name));
  }

  hasFolder(name: string): boolean {
    return this.repository.folders.has(this.where(name));
  }

  first(names: readonly string[]): string | null {
    return names.find(name => this.has(name)) ?? null;
  }

  text(name: string): string | null {
    return this.repository.text(this.where(name));
  }

  json(name: string): unknown {
    return this.repository.parsed('json', this.where(name));
  }

  toml(name: string): unknown {
    return this.repository.parsed('toml', this.where(name));
  }

  yaml(name: string): unknown {
    return this.repository.parsed('yaml', this.where(name));
  }

  xml(name: string): XmlElement | null {
    return this.repository.xml(this.where(name));
  }

  in(name: string): Folder {
    return new Folder(this.repository, this.where(name));
  }

  /** Every file below, relative to here. */
  get files(): readonly string[] {
    this.#files ??= below(this.repository.paths, this.path);
    return this.#files;
  }

  /** Names of the files right here. */
  get names(): readonly string[] {
    this.#names ??= this.files.filter(file => !file.includes('/'));
    return this.#names;
  }

  /** Files below that were read, with their text. */
  *texts(pattern: RegExp): Iterable<[name: string, text: string]> {
    this.#readFiles ??= below(this.repository.readPaths, this.path);
    for (const name of this.#readFiles) {
      if (pattern.test(name)) yield [name, this.text(name) ?? ''];
    }
  }
}

function below(sorted: readonly string[], folder: string): readonly string[] {
  if (folder === '') return sorted;
  const prefix = `${folder}/`;
  const files: string[] = [];
  for (let at = firstAtLeast(sorted, prefix); sorted[at]?.startsWith(prefix); at += 1) {
    files.push((sorted[at] as string).slice(prefix.length));
  }
  return files;
}

function firstAtLeast(sorted: readonly string[], wanted: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
