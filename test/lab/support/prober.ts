import { request } from 'node:http';

/** Asks a page so many times a second, each time over a connection of its own, and remembers whoever was not answered well. */
export class Prober {
  readonly failures: string[] = [];
  readonly seen = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  readonly #open = new Set<Promise<void>>();
  asked = 0;

  constructor(
    private readonly url: string,
    perSecond: number,
  ) {
    this.#timer = setInterval(() => this.#ask(), 1000 / perSecond);
  }

  /** Stops asking and waits for the answers. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
  }

  #ask(): void {
    this.asked += 1;
    const asking = this.#get().then(
      text => void this.seen.set(text, (this.seen.get(text) ?? 0) + 1),
      (error: NodeJS.ErrnoException) => void this.failures.push(error.code ?? error.message),
    );
    this.#open.add(asking);
    asking.finally(() => this.#open.delete(asking)).catch(() => undefined);
  }

  #get(): Promise<string> {
    return new Promise((resolve, reject) => {
      const asked = request(this.url, { agent: false, timeout: 10_000 }, response => {
        let text = '';
        response.setEncoding('utf8').on('data', chunk => {
          text += chunk;
        });
        response.once('end', () =>
          response.statusCode === 200 ? resolve(text) : reject(new Error(`${response.statusCode} ${text}`)),
        );
        response.once('error', reject);
      });
      asked.once('timeout', () => asked.destroy(new Error('no answer in 10 s')));
      asked.once('error', reject);
      asked.end();
    });
  }
}
