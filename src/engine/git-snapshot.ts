import type { Snapshot, SnapshotEntry } from '../analysis/snapshot/snapshot.ts';
import { catFiles, listTree } from '../commands/git.commands.ts';
import type { Host } from '../remote/host.ts';

/** The mode says what an entry is. */
const KINDS: Readonly<Record<string, SnapshotEntry['kind']>> = {
  '120000': 'symlink',
  '160000': 'submodule',
  '100644': 'file',
  '100755': 'file',
};

/** A bare clone as the analysis reads it. Files that were too large to be cloned exist, but cannot be read. */
export class GitSnapshot implements Snapshot {
  readonly #objects = new Map<string, string>();
  #contents: Promise<Map<string, Buffer>> | undefined;
  #wanted: string[] = [];

  constructor(
    private readonly host: Host,
    private readonly folder: string,
  ) {}

  async *entries(): AsyncIterable<SnapshotEntry> {
    const { stdout } = await this.host.run(listTree(this.folder));
    for (const line of stdout.toString().split('\0')) {
      const [, mode = '', object = '', path] = /^(\d{6}) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      if (path === undefined) continue;
      this.#objects.set(path, object);
      yield { path, kind: KINDS[mode] ?? 'other', size: 0 };
    }
  }

  /** Reads that are asked for together are answered by one git. */
  async read(path: string, maxBytes: number): Promise<Uint8Array | null> {
    const object = this.#objects.get(path);
    if (object === undefined) return null;
    this.#wanted.push(object);
    this.#contents ??= Promise.resolve().then(() => this.#readWanted());
    const content = (await this.#contents).get(object);
    return content === undefined ? null : content.subarray(0, maxBytes);
  }

  async #readWanted(): Promise<Map<string, Buffer>> {
    const objects = this.#wanted;
    this.#wanted = [];
    this.#contents = undefined;
    const { stdout } = await this.host.run(catFiles(this.folder), { stdin: `${objects.join('\n')}\n` });
    return parseBatch(stdout);
  }
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
