import { StoredStream, type StreamItem } from '../events/stored-stream.ts';
import type { Reader } from './audience.ts';
import type { Broadcaster, Subscription, Wire } from './broadcast.ts';
import type { Operations } from './operations.ts';

/** Starts a checked and opened subscription on a reader, whichever wire it speaks. */
export class Streaming {
  constructor(
    private readonly operations: Operations,
    private readonly broadcaster: Broadcaster,
  ) {}

  /** Returns what to call when the reader leaves. */
  start(stream: AsyncIterable<unknown>, subscription: Subscription, wire: Wire, reader: Reader): () => void {
    if (stream instanceof StoredStream) return this.broadcaster.join(stream, subscription, wire, reader);
    const messages = stream[Symbol.asyncIterator]();
    const stop = () => void messages.return?.().catch(() => undefined);
    this.#pump(messages, subscription, wire, reader).catch(() => {
      reader.end(undefined);
      stop();
    });
    return stop;
  }

  /** What is not stored is passed on as it comes, no faster than its one reader reads. */
  async #pump(messages: AsyncIterator<unknown>, subscription: Subscription, wire: Wire, reader: Reader): Promise<void> {
    const field = subscription.operation.selectionSet.selections[0];
    const name = field?.kind === 'Field' ? (field.alias ?? field.name).value : '';
    for (let position = 1; !reader.isGone; position += 1) {
      const { done, value } = await messages.next();
      if (done) return reader.end(wire.end);
      const result = await this.operations.execute(subscription, value);
      const item: StreamItem = { position, cursor: String(position), isLast: false, value: value as object };
      const frame = wire.frame(item, result, name);
      if (frame === undefined) return reader.end(undefined);
      reader.write(frame);
      await reader.drained();
    }
    await messages.return?.();
  }
}
