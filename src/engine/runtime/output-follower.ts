import { setTimeout as pause } from 'node:timers/promises';
import { clock } from '../../clock.ts';
import { MessageChannel } from '../../events/message-channel.ts';
import type { ContainerState, ContainerSummary } from '../../integrations/docker/docker-answers.ts';
import type { DockerApi, LogWish } from '../../integrations/docker/docker-api.ts';
import { containersOf, logWish, type OutputWish, prefixOf, type WatchedRelease } from './release-output.ts';
import type { RuntimeLine, TimedLine } from './runtime-line.ts';
import { TimedLines } from './timed-lines.ts';

/** What a follower needs of those who hold keys and rows. */
export interface FollowMeans {
  /** Docker of a server, over a connection that others do not wait for. */
  useDocker(serverId: string, work: (docker: DockerApi) => Promise<void>): Promise<void>;
  /** What serves now. */
  current(): Promise<WatchedRelease | undefined>;
  /** Rings when a release may have been replaced. */
  watch(deploymentId: string, ring: () => void): () => void;
  explain(error: unknown): string;
}

/** So many lines wait for their reader; then Docker waits. */
const MOST_WAITING = 200;
const RESTART_MS = 1000;

/** The output of what serves, as it is printed: of one release after the other, until nothing runs or nobody listens. */
export class OutputFollower {
  readonly #leaving = new AbortController();
  readonly #lines = new MessageChannel<RuntimeLine>(() => this.#leaving.abort());
  readonly #followed = new Set<string>();
  #open = 0;
  #hasEnded = false;

  constructor(
    private readonly means: FollowMeans,
    private readonly onEnd: () => void,
  ) {}

  /** Returns when its server has been reached and has the release, and fails if not. */
  async start(release: WatchedRelease, wish: OutputWish): Promise<AsyncIterable<RuntimeLine>> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    void this.#follow(release, wish, resolve).then(resolve, reject);
    try {
      await promise;
    } catch (error) {
      this.#end();
      throw error;
    }
    return this.#lines;
  }

  /** Nobody listens any more, or nobody ever began to. */
  leave(): void {
    this.#leaving.abort();
    this.#lines.close();
  }

  async #follow(release: WatchedRelease, wish: OutputWish, begun: () => void): Promise<void> {
    this.#followed.add(release.id);
    this.#open += 1;
    let hasBegun = false;
    const unwatch = this.means.watch(release.id, () => void this.#lookForNext());
    try {
      await this.means.useDocker(release.serverId, async docker => {
        const containers = await containersOf(docker, release);
        const onOpen = whenAll(containers.length, () => {
          hasBegun = true;
          begun();
        });
        await Promise.all(containers.map(each => this.#read(docker, release, each, containers, wish, onOpen)));
      });
      this.#say(`Deployment ${release.number} has ended`);
    } catch (error) {
      if (!hasBegun && !this.#isLeft) throw error;
      this.#say(this.means.explain(error));
    } finally {
      unwatch();
      this.#open -= 1;
    }
    await this.#lookForNext();
    if (this.#open === 0) this.#end();
  }

  /**
   * A container that ends badly is started again: then it goes on. One that has ended for good is asked once more, for Docker before 23
   * leaves out the last words of what is followed.
   */
  async #read(
    docker: DockerApi,
    release: WatchedRelease,
    { name }: ContainerSummary,
    containers: readonly ContainerSummary[],
    wish: OutputWish,
    onOpen: () => void,
  ): Promise<void> {
    let told = '';
    let next = wish;
    for (let hasEnded = false; ; ) {
      const reader = new TimedLines(release.masker, prefixOf(release, name, containers));
      const before = told;
      const pass = async (lines: Iterable<TimedLine>) => {
        for (const line of lines) {
          if (line.time !== '' && line.time <= before) continue;
          if (line.time > told) told = line.time;
          await this.#pass(line);
        }
      };
      const { signal } = this.#leaving;
      const onOutput: LogWish['onOutput'] = (chunk, from) => pass(reader.push(chunk, from));
      await docker.containerLogs(name, { ...logWish(next), signal, follow: !hasEnded, onOpen, onOutput });
      await pass(reader.end());
      const state: ContainerState | null = hasEnded ? null : await docker.inspectContainer(name);
      if (state === null) return;
      hasEnded = !state.isRunning && !state.isRestarting;
      if (!hasEnded) await pause(RESTART_MS, undefined, { signal });
      next = { since: told === '' ? (state.startedAt ?? undefined) : momentOf(told) };
    }
  }

  async #pass({ at, stream, message }: TimedLine): Promise<void> {
    this.#lines.send({ at, stream, message });
    await this.#lines.room(MOST_WAITING);
  }

  async #lookForNext(): Promise<void> {
    if (this.#isLeft) return;
    try {
      const current = await this.means.current();
      if (current === undefined || this.#followed.has(current.id) || this.#isLeft) return;
      this.#say(`Deployment ${current.number} serves now`);
      void this.#follow(current, {}, () => undefined).catch(error => this.#fail(error));
    } catch (error) {
      this.#say(this.means.explain(error));
    }
  }

  #fail(error: unknown): void {
    this.#say(this.means.explain(error));
    if (this.#open === 0) this.#end();
  }

  get #isLeft(): boolean {
    return this.#leaving.signal.aborted;
  }

  #say(message: string): void {
    this.#lines.send({ at: clock.now().toISOString(), stream: null, message });
  }

  #end(): void {
    this.#lines.close();
    if (!this.#hasEnded) this.onEnd();
    this.#hasEnded = true;
  }
}

/** Docker is asked by milliseconds: what it tells twice is known by its own, finer ones. */
const momentOf = (time: string): Date => new Date(`${time.slice(0, 23)}Z`);

function whenAll(count: number, done: () => void): () => void {
  let left = count;
  return () => {
    left -= 1;
    if (left === 0) done();
  };
}
