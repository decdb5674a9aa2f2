import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HOUR, MINUTE } from '../clock.ts';

/** Whoever uses a folder says so by its date; what is older was left behind by a process that was killed. */
const LEFT_BEHIND_AFTER_MS = HOUR;
const TOUCH_MS = 5 * MINUTE;

/** Private folders for one use each. Keys lie in some of them, so what a killed process left is cleared away by the next use. */
export class WorkFolders {
  readonly #used = new Map<string, NodeJS.Timeout>();

  constructor(private readonly root: string) {}

  async make(): Promise<string> {
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    await this.#clearLeft();
    const folder = await mkdtemp(join(this.root, 'git-'));
    const touch = setInterval(() => void utimes(folder, new Date(), new Date()).catch(() => undefined), TOUCH_MS);
    this.#used.set(basename(folder), touch.unref());
    return folder;
  }

  /** What a program that is just ending still writes is removed with the rest. */
  remove(folder: string): Promise<void> {
    const name = basename(folder);
    clearInterval(this.#used.get(name));
    this.#used.delete(name);
    return rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async #clearLeft(): Promise<void> {
    // Not our clock but the machine's, by which files are dated.
    const oldest = Date.now() - LEFT_BEHIND_AFTER_MS;
    for (const name of await readdir(this.root)) {
      if (this.#used.has(name)) continue;
      const folder = join(this.root, name);
      const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
      if (mtimeMs < oldest) await this.remove(folder);
    }
  }
}
