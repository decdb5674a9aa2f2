import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { askLfs } from '../../commands/source.commands.ts';
import { Answer } from '../../integrations/git/answer.ts';
import { GitFailure } from '../../integrations/git/git-failure.ts';
import { unreachable } from '../../integrations/git/json-api.ts';
import type { Outbound } from '../../security/outbound.ts';
import { parseRepositoryUrl } from '../../security/repository-url.ts';
import type { GitSessions } from '../git-sessions.ts';
import type { Pointer } from './lfs-files.ts';
import type { Wanted } from './source-fetch.ts';

type Headers = Readonly<Record<string, string>>;

interface Place {
  href: string;
  headers: Headers;
}

export interface Located extends Pointer, Place {}

const KIND = 'application/vnd.git-lfs+json';
const BATCH = 100;
const ASK_MS = 30_000;
const DOWNLOAD_MS = 10 * 60_000;
const MOST_MOVES = 3;

/** The LFS server of a repository: always the repository's own, whatever its files say. Every address is checked. */
export class LfsServer {
  private constructor(
    private readonly outbound: Outbound,
    private readonly place: Place,
    private readonly signal: AbortSignal,
  ) {}

  static async find(sessions: GitSessions, wanted: Wanted, signal: AbortSignal): Promise<LfsServer> {
    const { username, password } = wanted.login;
    if (parseRepositoryUrl(wanted.url)?.protocol === 'ssh')
      return new LfsServer(sessions.outbound, await askBySsh(sessions, wanted, signal), signal);
    const pass = Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64');
    const headers: Headers = password === null ? {} : { authorization: `Basic ${pass}` };
    const href = `${wanted.url.replace(/\/$/, '').replace(/\.git$/, '')}.git/info/lfs`;
    return new LfsServer(sessions.outbound, { href, headers }, signal);
  }

  /** Where each of them is, asked for as they are taken. */
  async *locate(pointers: readonly Pointer[]): AsyncGenerator<Located> {
    for (let at = 0; at < pointers.length; at += BATCH) {
      const objects = pointers.slice(at, at + BATCH);
      const found = await this.#ask(objects);
      for (const pointer of objects) {
        const place = found.get(pointer.oid);
        if (place === undefined)
          throw new GitFailure('NOT_FOUND', `LFS has no file ${pointer.oid.slice(0, 12)} of the repository`);
        yield { ...pointer, ...place };
      }
    }
  }

  /** The whole file as it was pushed, or a failure. */
  async download({ oid, size, href, headers }: Located, target: Writable): Promise<void> {
    const response = await this.#get(href, headers, size);
    const hash = createHash('sha256');
    let bytes = 0;
    const read = async function* () {
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        hash.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    };
    await pipeline(read, target, { signal: this.signal }).catch(error => this.#complain(error));
    if (bytes !== size || hash.digest('hex') !== oid)
      throw new GitFailure('UNREACHABLE', `LFS sent another file than ${oid.slice(0, 12)}`);
  }

  async #ask(objects: readonly Pointer[]): Promise<Map<string, Place>> {
    const { href, headers } = this.place;
    const request = {
      operation: 'download',
      transfers: ['basic'],
      objects: objects.map(({ oid, size }) => ({ oid, size })),
    };
    const init = {
      method: 'POST',
      headers: { ...headers, accept: KIND, 'content-type': KIND },
      body: JSON.stringify(request),
    };
    const response = await this.outbound
      .fetch(`${href}/objects/batch`, { ...init, signal: this.signal })
      .catch(error => this.#complain(error));
    if (!response.ok) throw refusal(response.status, this.place);
    const body = await response.json().catch(error => this.#complain(error));
    return new Map(new Answer('LFS', body).at('objects').list().flatMap(placeOf));
  }

  /** Some send downloads on to where they keep them. What they were sent with does not go to another server. */
  async #get(href: string, headers: Headers, size: number) {
    let [url, sent] = [secure(href), headers];
    for (let moves = 0; moves <= MOST_MOVES; moves += 1) {
      const response = await this.outbound
        .fetch(url, { headers: sent, signal: this.signal }, { timeoutMs: DOWNLOAD_MS, maxAnswerBytes: size })
        .catch(error => this.#complain(error));
      if (response.ok) return response;
      await response.body?.cancel();
      const next = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || next === null)
        throw refusal(response.status, { href, headers });
      const target = secure(new URL(next, url).href);
      if (target.host !== url.host) sent = {};
      url = target;
    }
    throw new GitFailure('UNREACHABLE', 'LFS sends downloads from one place to the next');
  }

  #complain(error: unknown): never {
    this.signal.throwIfAborted();
    throw unreachable('LFS', error);
  }
}

async function askBySsh(sessions: GitSessions, wanted: Wanted, signal: AbortSignal): Promise<Place> {
  const text = await sessions.speak(wanted.url, wanted.login, async ({ url, ssh, run }) => {
    if (ssh === null) throw new TypeError('not reached by ssh');
    return (await run(askLfs(ssh, url), ASK_MS, signal)).stdout.toString();
  });
  return placeFrom(new Answer('LFS', parsed(text)));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function placeOf(object: Answer): [oid: string, place: Place][] {
  const actions = object.at('actions');
  if (actions.isAbsent || actions.at('download').isAbsent) return [];
  return [[object.at('oid').name(), placeFrom(actions.at('download'))]];
}

function placeFrom(answer: Answer): Place {
  const { href } = answer.texts();
  if (href === undefined || !URL.canParse(href))
    throw new GitFailure('UNREACHABLE', 'LFS does not say where it keeps the files');
  return { href, headers: answer.at('header').texts() };
}

function secure(address: string): URL {
  const url = new URL(address);
  if (url.protocol !== 'https:') throw new GitFailure('REFUSED', 'LFS keeps its files at an address that is not https');
  return url;
}

function refusal(status: number, { headers }: Place): GitFailure {
  if (status === 401 || status === 403)
    return Object.keys(headers).length > 0
      ? new GitFailure('TOKEN_REJECTED', 'LFS does not let us in with this credential')
      : new GitFailure('NOT_FOUND', 'LFS does not let us in without a credential');
  return status === 404
    ? new GitFailure('NOT_FOUND', 'The repository has files of LFS, but its server has no LFS')
    : new GitFailure('UNREACHABLE', `LFS answered with status ${status}`);
}
