import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LogFrames } from '../../../src/integrations/docker/log-frames.ts';

const frame = (stream: number, bytes: Uint8Array): Buffer => {
  const header = Buffer.alloc(8);
  header.writeUInt8(stream, 0);
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
};

test('both streams come out as they went in, however they were cut on the way', () => {
  const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 50 })), { maxLength: 20 });
  const cuts = fc.infiniteStream(fc.integer({ min: 1, max: 30 }));
  fc.assert(
    fc.property(frames, cuts, (sent, sizes) => {
      const wire = Buffer.concat(sent.map(([stream, bytes]) => frame(stream, bytes)));
      const heard = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
      const reader = new LogFrames();
      for (let at = 0; at < wire.length; ) {
        const size = sizes.next().value;
        for (const [piece, from] of reader.take(wire.subarray(at, at + size)))
          heard[from] = Buffer.concat([heard[from], piece]);
        at += size;
      }
      const of = (wanted: number) =>
        Buffer.concat(sent.filter(([stream]) => stream === wanted).map(([, bytes]) => bytes));
      expect(heard).toEqual({ stdout: of(1), stderr: of(2) });
    }),
  );
});

test('what is no frame is not taken for one', () => {
  expect(() => [...new LogFrames().take(Buffer.from('plain text of a terminal'))]).toThrow('a form we do not know');
});
