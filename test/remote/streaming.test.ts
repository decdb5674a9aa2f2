import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Command } from '../../src/commands/command.ts';
import type { Host } from '../../src/remote/host.ts';
import { LocalHost } from '../../src/remote/local-host.ts';
import { SshHost } from '../../src/remote/ssh-host.ts';
import { eventually } from '../support/eventually.ts';
import { processesSaying } from '../support/processes.ts';
import { hasSshd, SshServer } from '../support/ssh-server.ts';

const MEGABYTE = 1024 * 1024;
const MUCH = 300 * MEGABYTE;
/** Pipes, windows and the buffers of sockets, all together. */
const ON_THE_WAY = 24 * MEGABYTE;
const MEASURE_EVERY = 30 * MEGABYTE;

const isLinux = process.platform === 'linux';
const kinds: [string, boolean][] = [
  ['the machine we run on', isLinux],
  ['a machine reached by SSH', isLinux && hasSshd()],
];

describe.each(kinds)('streams of %s', (kind, isThere) => {
  const it = isThere ? test : test.skip;
  let server: SshServer | undefined;
  let host: Host;
  beforeAll(async () => {
    if (!isThere) return;
    if (kind === 'the machine we run on') host = new LocalHost(process.env.PATH ?? '');
    else {
      server = await SshServer.start();
      host = await SshHost.connect({ ...server.target, trusts: () => true });
    }
  });
  afterAll(async () => {
    if (host instanceof SshHost) host.close();
    await server?.stop();
  });

  it('are read no faster than they are taken, in little memory', async () => {
    const mark = `${MUCH}`;
    const before = rssInUse();
    const listener = new Listener(before + 80 * MEGABYTE);
    const streaming = host.stream(Command.of('head', '-c', mark, '/dev/zero'), { onOutput: listener.hear });
    await listener.began;
    const writers = await eventually(() => nonEmpty(processesSaying(`head\0-c\0${mark}`)));
    expect(await steady(() => Math.max(...writers.map(bytesWritten)))).toBeLessThan(ON_THE_WAY);
    listener.release();
    await streaming;
    expect(listener.bytes).toBe(MUCH);
    expect(listener.highestRss).toBeGreaterThan(0);
    expect(listener.highestRss).toBeLessThan(listener.mostRss);
  });

  it('stay in little memory when one of them is not taken and the other one drips', async () => {
    const file = join(tmpdir(), `slipway-rounds-${randomUUID()}`);
    const script = 'n=0; while :; do head -c 1000000 /dev/zero; echo x >&2; n=$((n + 1)); echo $n >"$1"; done';
    const listener = new Listener();
    const stop = new AbortController();
    const { signal } = stop;
    const command = Command.of('sh', '-c', script, 'sh', file);
    const streaming = host.stream(command, { onOutput: listener.hear, signal });
    streaming.catch(() => undefined);
    await listener.began;
    expect(await steady(() => roundsIn(file))).toBeLessThan(ON_THE_WAY / 1_000_000);
    stop.abort();
    listener.release();
    await expect(streaming).rejects.toMatchObject({ reason: 'ABORTED' });
    rmSync(file, { force: true });
  });

  it('are written no faster than they are read, and arrive whole', async () => {
    const go = join(tmpdir(), `slipway-go-${randomUUID()}`);
    const source = new Source(MUCH);
    const script = 'while [ ! -e "$1" ]; do sleep 0.05; done; wc -c';
    const answer: Buffer[] = [];
    const streaming = host.stream(Command.of('sh', '-c', script, 'sh', go), {
      stdin: source.pieces(),
      onOutput: chunk => void answer.push(chunk),
    });
    expect(await steady(() => source.given)).toBeLessThan(ON_THE_WAY);
    writeFileSync(go, '');
    await streaming;
    expect(Number(Buffer.concat(answer).toString())).toBe(MUCH);
    rmSync(go);
  });

  it('end with the program, also when that reads no more', async () => {
    const source = new Source(MUCH);
    await host.stream(Command.of('head', '-c', '10'), { stdin: source.pieces() });
    await eventually(() => source.isClosed);
    expect(source.given).toBeLessThan(ON_THE_WAY);
  });

  it('give one piece at a time, of either', async () => {
    const script = 'n=0; while [ $n -lt 200 ]; do n=$((n + 1)); echo o$n; echo e$n >&2; done';
    const said = { stdout: '', stderr: '' };
    let open = 0;
    let most = 0;
    await host.stream(Command.of('sh', '-c', script), {
      onOutput: async (chunk, from) => {
        open += 1;
        most = Math.max(most, open);
        said[from] += chunk.toString();
        await new Promise(setImmediate);
        open -= 1;
      },
    });
    expect(most).toBe(1);
    const all = (letter: string) => Array.from({ length: 200 }, (_, index) => `${letter}${index + 1}\n`).join('');
    expect(said).toEqual({ stdout: all('o'), stderr: all('e') });
  });

  it('fail with what the listener or the source failed with, and leave nothing running', async () => {
    const mark = `95${Math.floor(Math.random() * 1e6)}`;
    const long = Command.of('sh', '-c', `echo up; sleep ${mark} & sleep ${mark}; cat`);
    const deaf = host.stream(long, {
      onOutput: () => {
        throw new RangeError('deaf');
      },
    });
    await expect(deaf).rejects.toThrow(new RangeError('deaf'));
    const later = host.stream(long, { onOutput: () => Promise.reject(new RangeError('later')) });
    await expect(later).rejects.toThrow(new RangeError('later'));
    const dry = host.stream(long, {
      stdin: new Readable({
        read() {
          this.destroy(new RangeError('dry'));
        },
      }),
    });
    await expect(dry).rejects.toThrow(new RangeError('dry'));
    await eventually(() => processesSaying(mark).length === 0, 1000);
  });

  it('leave nothing running when their time or our patience is over, whatever was started', async () => {
    const mark = `94${Math.floor(Math.random() * 1e6)}`;
    const stubborn = Command.of('sh', '-c', `trap '' TERM; sleep ${mark} & echo up; sleep ${mark}`);
    // What was killed is gone when the machine finds the time.
    const nothingLeft = () => eventually(() => processesSaying(mark).length === 0, 1000);
    const stop = new AbortController();
    const aborted = host.stream(stubborn, { signal: stop.signal, onOutput: () => stop.abort() });
    await expect(aborted).rejects.toMatchObject({ reason: 'ABORTED' });
    await nothingLeft();
    await expect(host.stream(stubborn, { timeoutMs: 300 })).rejects.toMatchObject({ reason: 'TIMEOUT' });
    await nothingLeft();
    const already = host.stream(stubborn, { signal: AbortSignal.abort() });
    await expect(already).rejects.toMatchObject({ reason: 'ABORTED' });
    await nothingLeft();
  });
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Without what was let go of already: when that is collected is the machine's business. */
function rssInUse(): number {
  collectGarbage();
  return process.memoryUsage().rss;
}

/** Takes the first piece and then lets all others wait. */
class Listener {
  bytes = 0;
  highestRss = 0;
  release: () => void = () => undefined;
  readonly began: Promise<void>;
  #tell: () => void = () => undefined;
  readonly #released: Promise<void>;

  constructor(readonly mostRss = Number.POSITIVE_INFINITY) {
    this.began = new Promise(resolve => {
      this.#tell = resolve;
    });
    this.#released = new Promise(resolve => {
      this.release = resolve;
    });
  }

  readonly hear = (chunk: Buffer): Promise<void> => {
    this.#tell();
    const before = this.bytes;
    this.bytes += chunk.length;
    if (Math.floor(before / MEASURE_EVERY) < Math.floor(this.bytes / MEASURE_EVERY)) this.#measure();
    return this.#released;
  };

  /** What is little with its garbage is little without it: only what is too much is worth the collector's time. */
  #measure(): void {
    const rss = process.memoryUsage.rss();
    this.highestRss = Math.max(this.highestRss, rss < this.mostRss ? rss : rssInUse());
  }
}

class Source {
  given = 0;
  isClosed = false;
  constructor(private readonly size: number) {}

  async *pieces(): AsyncGenerator<Uint8Array> {
    const piece = Buffer.alloc(64 * 1024);
    try {
      for (; this.given < this.size; this.given += piece.length) yield piece;
    } finally {
      this.isClosed = true;
    }
  }
}

const nonEmpty = (pids: number[]): number[] | undefined => (pids.length > 0 ? pids : undefined);

const bytesWritten = (pid: number): number =>
  Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);

function roundsIn(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

/** The value at which something comes to rest, seen fifty times in a row. */
async function steady(look: () => number): Promise<number> {
  for (let last = Number.NaN, seen = 0; ; ) {
    const value = look();
    seen = value === last ? seen + 1 : 0;
    last = value;
    if (seen === 50) return value;
    await pause(10);
  }
}
