import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HOUR } from '../clock.ts';

/** Nothing here is needed for longer: what is older was left behind by a process that was killed. */
const LEFT_BEHIND_AFTER_MS = HOUR;

/** Private folders for one use each. Keys lie in some of them, so what a killed process left is cleared away by the next use. */
export class WorkFolders {
  constructor(private readonly root: string) {}

  async make(): Promise<string> {
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    await this.#clearLeft();
    return mkdtemp(join(this.root, 'git-'));
  }

  remove(folder: string): Promise<void> {
    return rm(folder, { recursive: true, force: true });
  }

  async #clearLeft(): Promise<void> {
    // Not our clock but the machine's, by which files are dated.
    const oldest = Date.now() - LEFT_BEHIND_AFTER_MS;
    for (const name of await readdir(this.root)) {
      const folder = join(this.root, name);
      const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
      if (mtimeMs < oldest) await this.remove(folder);
    }
  }
}
