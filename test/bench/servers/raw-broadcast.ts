/** The yardstick of streams: node:http, a set of open responses, and one prepared buffer written to each. */
import { createServer, type ServerResponse } from 'node:http';

const readers = new Set<ServerResponse>();

createServer((_, response) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' });
  response.write('retry: 2000\n\n');
  readers.add(response);
  response.once('close', () => readers.delete(response));
}).listen(Number(process.env.PORT), '127.0.0.1', 4096);

process.on('message', (message: { broadcast?: string }) => {
  if (message.broadcast === undefined) return;
  const frame = Buffer.from(message.broadcast);
  for (const reader of readers) reader.write(frame);
});
