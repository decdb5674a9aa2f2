import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Kept connections that say nothing for so long are closed; the others are told with their next answer. */
const GRACE_MS = 500;
/** Whoever does not take the rest of an answer by then is cut off. */
const PATIENCE_MS = 20_000;

/**
 * Takes a server out of service without failing anybody. `server.close` alone would serve clients that keep their
 * connections busy for ever, and close a connection that only looks idle because the next request is still on its way.
 */
export class Connections {
  readonly #answering = new Set<ServerResponse>();
  #isClosing = false;

  constructor(private readonly server: Server) {
    server.prependListener('request', (_, response) => this.#watch(response));
  }

  /** Nobody new is let in; everyone inside gets an answer that says it is the last on its connection. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const response of this.#answering) sayLast(response);
    // The server's own `close` would end kept connections at once: only the listening is ended here.
    const closed = new Promise<void>(resolve => NetServer.prototype.close.call(this.server, () => resolve()));
    await Promise.race([closed, pause(GRACE_MS)]);
    this.server.closeIdleConnections();
    const cut = setTimeout(() => this.server.closeAllConnections(), PATIENCE_MS);
    await closed;
    clearTimeout(cut);
  }

  #watch(response: ServerResponse): void {
    if (this.#isClosing) sayLast(response);
    this.#answering.add(response);
    response.once('close', () => this.#answering.delete(response));
  }
}

function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
