import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import type { Agent, RequestInit, Response } from 'undici';
import { AddressRules } from './addresses.ts';

/** An address we do not talk to. */
export class OutboundRefused extends Error {}

/** An answer larger than we take. */
export class AnswerTooLarge extends Error {}

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** At least one: a name without an address is not resolved. */
export type ResolvedAddresses = [ResolvedAddress, ...ResolvedAddress[]];

export interface OutboundOptions {
  /** CIDRs of private networks that may be reached. */
  allow: readonly string[];
  /** PEM of private authorities, trusted besides the well-known ones. */
  authorities: string | undefined;
  /** How names are resolved; the system's way unless told. */
  lookup?: (host: string) => Promise<ResolvedAddress[]>;
  timeoutMs?: number;
  maxAnswerBytes?: number;
}

/** What one answer may take, where the usual is too little. */
export interface AnswerLimits {
  timeoutMs?: number;
  maxAnswerBytes?: number;
}

const TIMEOUT_MS = 15_000;
const LARGEST_ANSWER = 16 * 1024 * 1024;

/**
 * The one way to an address that a user gave. A name is resolved once, every address it has is checked, and the connection
 * goes to what was checked: a name that changes its mind in between gains nothing. Redirects are not followed.
 */
export class Outbound {
  readonly #rules: AddressRules;
  #client: Promise<Client> | undefined;
  readonly #lookup: (host: string) => Promise<ResolvedAddress[]>;
  readonly #timeoutMs: number;
  readonly #maxAnswerBytes: number;
  /** Everybody to trust, for programs that are given a list of their own; null is their usual one. */
  readonly authorities: string | null;

  constructor({ allow, authorities, lookup: ask, timeoutMs, maxAnswerBytes }: OutboundOptions) {
    this.#rules = new AddressRules(allow);
    this.#lookup = ask ?? (host => lookup(host, { all: true }));
    this.#timeoutMs = timeoutMs ?? TIMEOUT_MS;
    this.#maxAnswerBytes = maxAnswerBytes ?? LARGEST_ANSWER;
    // A list of authorities replaces the well-known ones wherever it is given, so those come along.
    this.authorities = authorities === undefined ? null : [...rootCertificates, authorities].join('\n');
  }

  /** Like `fetch`, to checked addresses only. */
  readonly fetch = async (
    input: string | URL,
    init: RequestInit = {},
    { timeoutMs = this.#timeoutMs, maxAnswerBytes = this.#maxAnswerBytes }: AnswerLimits = {},
  ): Promise<Response> => {
    const url = new URL(input);
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw new OutboundRefused('only http and https are spoken');
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0) this.check(literal);
    // Before the clock starts: the first time it takes a moment.
    this.#client ??= this.#load();
    const { undici, agent } = await this.#client;
    const limit = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const response = await undici.fetch(url, { ...init, signal, dispatcher: agent, redirect: 'manual' });
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new undici.Response(upTo(response.body, maxAnswerBytes), { status, statusText, headers });
  };

  /** The checked addresses of a host, for programs that connect by themselves and can be told where. */
  async resolve(host: string): Promise<ResolvedAddresses> {
    const found = isIP(host) === 0 ? await this.#lookup(host) : [{ address: host, family: isIP(host) }];
    const [first, ...others] = found;
    if (first === undefined) throw Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' });
    for (const { address } of found) this.check(address);
    return [first, ...others];
  }

  check(address: string): void {
    const refusal = this.#rules.refusalOf(address);
    if (refusal !== undefined) throw new OutboundRefused(refusal);
  }

  async #lookUp(host: string, wantsAll: boolean, done: Done): Promise<void> {
    try {
      const found = await this.resolve(host);
      if (wantsAll) done(null, found);
      else done(null, found[0].address, found[0].family);
    } catch (error) {
      done(error as Error, []);
    }
  }

  /** What is still on its way is given up. */
  async close(): Promise<void> {
    await (await this.#client)?.agent.destroy();
  }

  /** Loaded with the first request that leaves: many an installation sits idle without one, and it is no small program. */
  async #load(): Promise<Client> {
    const undici = await import('undici');
    const agent = new undici.Agent({
      connect: {
        ...(this.authorities === null ? {} : { ca: this.authorities }),
        timeout: this.#timeoutMs,
        lookup: (host, { all }, done) => void this.#lookUp(host, all === true, done),
      },
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
    });
    return { undici, agent };
  }
}

interface Client {
  undici: typeof import('undici');
  agent: Agent;
}

type Done = (error: Error | null, found: string | ResolvedAddress[], family?: number) => void;

/** Counted after decompression: a small answer can be made of very much. */
async function* upTo(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncIterable<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new AnswerTooLarge(`the answer has more than ${maxBytes} bytes`);
    yield chunk;
  }
}
