import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NO_LOGIN } from '../../src/engine/git-sessions.ts';
import type { Archive } from '../../src/engine/source/source-archive.ts';
import { type Source, SourceCheckouts } from '../../src/engine/source/source-checkouts.ts';
import type { SourceLimits, SourceWish } from '../../src/engine/source/source-fetch.ts';
import { LocalHost } from '../../src/remote/local-host.ts';
import { Outbound, type OutboundOptions } from '../../src/security/outbound.ts';
import { leftIn } from './checkouts.ts';

interface Options extends Partial<OutboundOptions> {
  caFile?: string;
  limits?: Partial<SourceLimits>;
}

/** What brings the source of a build here, without the service around it, in a folder of its own. */
export class TestSources {
  readonly folder = mkdtempSync(join(tmpdir(), 'slipway sources-'));
  readonly lines: string[] = [];
  readonly sources: SourceCheckouts;
  readonly #outbound: Outbound;
  readonly #open: Source[] = [];

  constructor({ caFile, limits, ...options }: Options = {}) {
    const authorities = caFile === undefined ? undefined : readFileSync(caFile, 'utf8');
    this.#outbound = new Outbound({ allow: ['127.0.0.0/8', '::1/128'], authorities, ...options });
    this.sources = new SourceCheckouts(new LocalHost(process.env.PATH ?? ''), this.#outbound, this.folder, limits);
  }

  async checkOut(url: string, wish: Partial<SourceWish> = {}): Promise<Source> {
    const { signal } = new AbortController();
    const onLine = (line: string) => this.lines.push(line);
    const source = await this.sources.checkOut({
      ...{ url, login: NO_LOGIN, branch: null, commit: null, signal, onLine },
      ...wish,
    });
    this.#open.push(source);
    return source;
  }

  /** What is left of work that is over. */
  get leftovers(): string[] {
    return leftIn(this.folder);
  }

  async stop(): Promise<void> {
    for (const source of this.#open) await source.dispose();
    await this.#outbound.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface Packed {
  /** As `tar` lists it, such as `-rwxr-xr-x`. */
  mode: string;
  target: string | null;
  text: string | null;
}

/** What a tar holds, by its own tools. */
export async function unpack(archive: Archive): Promise<Record<string, Packed>> {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-unpacked-'));
  try {
    const file = join(folder, 'context');
    await writeFile(file, archive.open());
    const lines = execFileSync('tar', ['-tvf', file], { encoding: 'utf8' }).trimEnd().split('\n');
    execFileSync('tar', ['-xf', file, '-C', folder]);
    return Object.fromEntries(lines.map(line => read(folder, line)).filter(([, { mode }]) => !mode.startsWith('d')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function read(folder: string, line: string): [path: string, Packed] {
  const [, mode = '', rest = ''] = /^(\S+) \S+ +\d+ \S+ \S+ \.\/(.*)$/.exec(line) ?? [];
  const [path = '', target = null] = rest.split(' -> ');
  return [path, { mode, target, text: mode.startsWith('-') ? readFileSync(join(folder, path), 'utf8') : null }];
}

/** All that an archive holds, as texts by their paths. */
export async function textsOf(source: Source, contextDirectory = ''): Promise<Record<string, string | null>> {
  const packed = await unpack(await source.archive({ contextDirectory, extraFiles: {} }));
  return Object.fromEntries(Object.entries(packed).map(([path, { text }]) => [path, text]));
}
