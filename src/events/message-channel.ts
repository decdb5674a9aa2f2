import { Bell } from './stored-stream.ts';

/** Messages that are passed on as they come and stored nowhere. Whoever sends is told when the reader leaves. */
export class MessageChannel<Message> implements AsyncIterable<Message> {
  readonly #messages: Message[] = [];
  readonly #bell = new Bell();
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  constructor(private readonly onLeave: () => void) {}

  send(message: Message): void {
    if (this.#isClosed) return;
    this.#messages.push(message);
    this.#bell.ring();
  }

  /** For one who sends much: waits until fewer than so many lie here, or nobody takes any. */
  async room(most: number): Promise<void> {
    while (this.#messages.length >= most && !this.#isClosed)
      await new Promise<void>(resolve => this.#waiting.add(resolve));
  }

  close(): void {
    this.#isClosed = true;
    this.#bell.ring();
    this.#makeRoom();
  }

  [Symbol.asyncIterator](): AsyncIterator<Message, undefined> {
    return {
      next: async () => {
        for (;;) {
          const value = this.#messages.shift();
          this.#makeRoom();
          if (value !== undefined) return { done: false, value };
          if (this.#isClosed) return { done: true, value: undefined };
          await this.#bell.next();
        }
      },
      return: () => {
        this.#messages.length = 0;
        this.close();
        this.onLeave();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  #makeRoom(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
