import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { DuplexHttp, type Open, type Question } from '../duplex-http.ts';
import { CaddyFault } from './caddy-fault.ts';

/** It answers only to whoever calls it by the address it listens on. */
export const CADDY_ADMIN_PORT = 2019;
const HOST = `127.0.0.1:${CADDY_ADMIN_PORT}`;

/** Caddy's settings by their paths, such as `/config/apps/http/servers/one`. What it refuses fails with a `CaddyFault`. */
export class CaddyAdmin {
  readonly #http: DuplexHttp;

  constructor(open: Open) {
    this.#http = new DuplexHttp(open, HOST);
  }

  close(): void {
    this.#http.close();
  }

  async get<Value>(path: string): Promise<Value | null> {
    const found = await this.#ask({ method: 'GET', path }).catch(unlessMissing);
    return found === undefined ? null : (JSON.parse(found) as Value);
  }

  /** Makes it, or puts it in the place of what is there. */
  async put(path: string, value: unknown): Promise<void> {
    await this.#ask({ method: 'POST', path, body: value });
  }

  /** Makes it with all that is above it, unless it is there. Answers whether it was made. */
  async create(path: string, value: unknown): Promise<boolean> {
    try {
      await this.#ask({ method: 'PUT', path, body: value });
      return true;
    } catch (error) {
      if (error instanceof CaddyFault && isThere(error)) return false;
      throw error;
    }
  }

  async remove(path: string): Promise<void> {
    await this.#ask({ method: 'DELETE', path }).catch(unlessMissing);
  }

  /** With every change it opens its endpoint anew and closes what was open: no connection is used twice. */
  #ask(question: Question): Promise<string> {
    return this.#http.ask({ ...question, isLong: true }, read);
  }
}

// Debian's Caddy 2.6 has no status of its own for it.
const isThere = ({ status, message }: CaddyFault): boolean => status === 409 || /key already exists/.test(message);

async function read(answer: IncomingMessage): Promise<string> {
  const { statusCode = 0 } = answer;
  const body = await text(answer);
  if (statusCode < 400) return body;
  throw new CaddyFault(statusCode, messageIn(body) || `Caddy answered ${statusCode}`);
}

function messageIn(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    return typeof error === 'string' ? error : body.trim();
  } catch {
    return body.trim();
  }
}

/** A path that leads nowhere is told as a bad one. */
function unlessMissing(error: unknown): undefined {
  const isMissing =
    error instanceof CaddyFault && (error.status === 404 || /invalid traversal path/.test(error.message));
  if (!isMissing) throw error;
}
