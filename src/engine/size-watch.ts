import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const LOOK_MS = 250;

export class TooLarge extends Error {}

/** Aborts its signal when a clone has taken more of the disk than it may. */
export class SizeWatch {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly folder: string,
    private readonly maxBytes: number,
    /** What makes it surprising. */
    private readonly although = '',
  ) {
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** What came between two looks counts as well. */
  async refuseWhatIsTooLarge(): Promise<void> {
    await this.#look();
    this.signal.throwIfAborted();
  }

  async #look(): Promise<void> {
    if ((await sizeOf(join(this.folder, 'objects', 'pack'))) <= this.maxBytes) return;
    const megabytes = Math.round(this.maxBytes / 1024 / 1024);
    this.#controller.abort(new TooLarge(`The repository sends more than ${megabytes} MB${this.although}`));
  }
}

/** What comes and goes while we look is not there. */
async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = names.map(name =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
