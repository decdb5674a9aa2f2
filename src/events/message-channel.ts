import { Bell } from './stored-stream.ts';

/** Messages that are passed on as they come and stored nowhere. Whoever sends is told when the reader leaves. */
export class MessageChannel<Message> implements AsyncIterable<Message> {
  readonly #messages: Message[] = [];
  readonly #bell = new Bell();
  #isClosed = false;

  constructor(private readonly onLeave: () => void) {}

  send(message: Message): void {
    if (this.#isClosed) return;
    this.#messages.push(message);
    this.#bell.ring();
  }

  close(): void {
    this.#isClosed = true;
    this.#bell.ring();
  }

  [Symbol.asyncIterator](): AsyncIterator<Message, undefined> {
    return {
      next: async () => {
        for (;;) {
          const value = this.#messages.shift();
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
}
