import type { Response } from 'express';

/** What `response.send` does for a text, without its questions. */
export function writeText(response: Response, text: string): void {
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}
