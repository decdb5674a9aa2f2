import { AnalysisFailure } from '../analysis/analysis-failure.ts';
import type { Snapshot, SnapshotEntry } from '../analysis/snapshot/snapshot.ts';
import type { Command } from '../commands/command.ts';
import { catFiles, LARGEST_BLOB, listObjects, listTree } from '../commands/git.commands.ts';
import { type Host, RemoteFailure } from '../remote/host.ts';

/** The mode says what an entry is. */
const KINDS: Readonly<Record<string, SnapshotEntry['kind']>> = {
  '120000': 'symlink',
  '160000': 'submodule',
  '100644': 'file',
  '100755': 'file',
};

/** One git reads at most this much at a time. */
const BATCH_BYTES = 4 * LARGEST_BLOB;

interface Found {
  object: string;
  size: number;
}

/** A bare clone as the analysis reads it. Files that were too large to be cloned exist, but cannot be read. */
export class GitSnapshot implements Snapshot {
  readonly #files = new Map<string, Found>();
  #contents: Promise<Map<string, Buffer>> | undefined;
  #wanted: Found[] = [];

  constructor(
    private readonly host: Host,
    private readonly folder: string,
  ) {}

  async *entries(): AsyncIterable<SnapshotEntry> {
    const [tree, sizes] = await Promise.all([this.#ask(listTree(this.folder)), this.#sizes()]);
    for (const line of tree.toString().split('\0')) {
      const [, mode = '', object = '', path] = /^(\d{6}) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      if (path === undefined) continue;
      const kind = KINDS[mode] ?? 'other';
      const size = kind === 'file' ? (sizes.get(object) ?? LARGEST_BLOB + 1) : 0;
      if (kind === 'file') this.#files.set(path, { object, size });
      yield { path, kind, size };
    }
  }

  /** Reads that are asked for together are answered by one git. */
  async read(path: string, maxBytes: number): Promise<Uint8Array | null> {
    const found = this.#files.get(path);
    if (found === undefined || found.size > LARGEST_BLOB) return null;
    this.#wanted.push(found);
    this.#contents ??= Promise.resolve().then(() => this.#readWanted());
    const content = (await this.#contents).get(found.object);
    return content === undefined ? null : content.subarray(0, maxBytes);
  }

  async #readWanted(): Promise<Map<string, Buffer>> {
    const wanted = this.#wanted;
    this.#wanted = [];
    this.#contents = undefined;
    const contents = new Map<string, Buffer>();
    for (const batch of batchesOf(wanted)) {
      const stdin = batch.map(({ object }) => `${object}\n`).join('');
      for (const [object, content] of parseBatch(await this.#ask(catFiles(this.folder), stdin)))
        contents.set(object, content);
    }
    return contents;
  }

  async #sizes(): Promise<Map<string, number>> {
    const lines = (await this.#ask(listObjects(this.folder))).toString().split('\n');
    return new Map(lines.map(line => line.split(' ')).map(([object = '', size]) => [object, Number(size)]));
  }

  async #ask(command: Command, stdin = ''): Promise<Buffer> {
    try {
      return (await this.host.run(command, { stdin })).stdout;
    } catch (error) {
      if (error instanceof RemoteFailure && error.reason === 'TOO_MUCH_OUTPUT')
        throw new AnalysisFailure('TOO_MANY_FILES', 'The repository has more files than can be listed');
      throw error;
    }
  }
}

function batchesOf(wanted: readonly Found[]): Found[][] {
  const batches: Found[][] = [];
  let bytesLeft = 0;
  for (const found of wanted) {
    bytesLeft -= found.size;
    const batch = batches.at(-1);
    if (batch !== undefined && bytesLeft >= 0) batch.push(found);
    else {
      batches.push([found]);
      bytesLeft = BATCH_BYTES - found.size;
    }
  }
  return batches;
}

/** `<object> blob <size>\n<bytes>\n`, or `<object> missing\n`. */
function parseBatch(output: Buffer): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at);
    if (end < 0) break;
    const [object = '', kind, size] = output.toString('utf8', at, end).split(' ');
    at = end + 1;
    if (kind === 'missing' || size === undefined) continue;
    contents.set(object, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return contents;
}
