import type { Readable } from 'node:stream';
import type { ClientChannel } from 'ssh2';

/**
 * The two streams of a channel share one window, and ssh2 opens it when either of them is read: a program that drips on stderr
 * would fill our memory with the stdout that nobody reads. So neither asks for more while the other has its fill.
 */
export function shareWindow(channel: ClientChannel): void {
  askUnlessFull(channel, channel.stderr);
  askUnlessFull(channel.stderr, channel);
}

function askUnlessFull(stream: Readable, other: Readable): void {
  const push = stream.push.bind(stream);
  const read = stream._read.bind(stream);
  const isOtherFull = () => other.readableLength >= other.readableHighWaterMark;
  stream.push = (chunk, encoding) => push(chunk, encoding) && !isOtherFull();
  // Whichever is emptied last finds the other with room, and asks for both.
  stream._read = size => {
    if (!isOtherFull()) read(size);
  };
}
