import type { Readable } from 'node:stream';
import type { ClientChannel } from 'ssh2';

/**
 * The two streams of a channel share one window, and ssh2 opens it when either of them is read: a program that drips on stderr
 * would fill our memory with the stdout that nobody reads. So neither asks for more while the other has its fill.
 */
export function shareWindow(channel: ClientChannel): void {
  const streams: readonly Readable[] = [channel, channel.stderr];
  const isFull = () => streams.some(stream => stream.readableLength >= stream.readableHighWaterMark);
  for (const stream of streams) {
    const push = stream.push.bind(stream);
    const read = stream._read.bind(stream);
    stream.push = (chunk, encoding) => push(chunk, encoding) && !isFull();
    stream._read = size => {
      if (!isFull()) read(size);
    };
  }
}
