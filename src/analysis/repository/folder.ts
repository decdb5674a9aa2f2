import type { Repository } from './repository.ts';
import type { XmlElement } from './xml-text.ts';

/** One folder of a repository, seen from inside: all names are relative to it. */
export class Folder {
  readonly repository: Repository;
  /** From the root of the repository; empty for the root itself. */
  readonly path: string;
  #files: readonly string[] | null = null;

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
    this.#files ??= this.#filesBelow();
    return this.#files;
  }

  /** Names of the files right here. */
  get names(): readonly string[] {
    return this.files.filter(file => !file.includes('/'));
  }

  /** Files below that were read, with their text. */
  *texts(pattern: RegExp): Iterable<[name: string, text: string]> {
    for (const name of this.files) {
      const text = pattern.test(name) ? this.text(name) : null;
      if (text !== null) yield [name, text];
    }
  }

  #filesBelow(): readonly string[] {
    const { paths } = this.repository;
    if (this.path === '') return paths;
    const prefix = `${this.path}/`;
    const from = firstAtLeast(paths, prefix);
    const below: string[] = [];
    for (let at = from; paths[at]?.startsWith(prefix); at += 1) below.push((paths[at] as string).slice(prefix.length));
    return below;
  }
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
