import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { MINUTE } from '../clock.ts';

/** Whoever uses a folder says so by its date; what is older was left behind by a process that was killed. */
const LEFT_BEHIND_AFTER_MS = 15 * MINUTE;
const TOUCH_MS = MINUTE;

/** Tells this process from one that had its number before. */
const OWNER = `${process.pid}-${Math.round(performance.timeOrigin)}`;

/**
 * Private folders for one use each, that bear the name of their process. Keys lie in some of them, so what a killed process left is
 * cleared away: when the service starts, and by the next use.
 */
export class WorkFolders {
  readonly #used = new Map<string, NodeJS.Timeout>();

  constructor(private readonly root: string) {}

  async make(): Promise<string> {
    await this.clearLeft();
    const folder = await mkdtemp(join(this.root, `git-${OWNER}-`));
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

  async clearLeft(): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    // Not our clock but the machine's, by which files are dated.
    const oldest = Date.now() - LEFT_BEHIND_AFTER_MS;
    for (const name of await readdir(this.root)) {
      if (this.#used.has(name)) continue;
      const folder = join(this.root, name);
      const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
      if (mtimeMs < oldest || isOfTheDead(name)) await this.remove(folder);
    }
  }
}

/** Several instances may share the folder: those of whoever lives are left alone. */
function isOfTheDead(name: string): boolean {
  const [, owner, pid] = /^git-((\d+)-\d+)-/.exec(name) ?? [];
  if (pid === undefined || owner === OWNER) return false;
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
