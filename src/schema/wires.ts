import type { Wire } from './broadcast.ts';

/** A plain server-sent event: `onmessage` gets it, `id` resumes behind it. A message that failed ends the stream; it can be resumed. */
export const plainWire: Wire = {
  name: 'plain',
  frame: ({ cursor }, { data, errors }, field) =>
    errors ? undefined : Buffer.from(`id: ${cursor}\ndata: ${JSON.stringify(data?.[field])}\n\n`),
  end: undefined,
};

/** The wire of the graphql-sse protocol, distinct connections mode. */
export const graphqlWire: Wire = {
  name: 'graphql',
  frame: (_, result) => Buffer.from(`event: next\ndata: ${JSON.stringify(result)}\n\n`),
  end: Buffer.from('event: complete\ndata:\n\n'),
};
