import { type Person, TestApp } from './create-app.ts';
import { eventually } from './eventually.ts';
import { SseClient } from './sse-client.ts';

export interface ServerAnswer {
  id: string;
  name: string;
  host: string;
  port: number;
  username: string;
  publicKey: string | null;
  hostKeys: { type: string | null; fingerprint: string }[];
  status: 'PENDING' | 'READY' | 'UNREACHABLE' | 'UNTRUSTED';
  statusReason: string | null;
  facts: { os: string; cpus: number; docker: string | null } | null;
  security: { score: number; checkedAt: string } | null;
  lastSeenAt: string | null;
  version: number;
}

export interface StepMessage {
  seq: number;
  step: string;
  status: string;
  message: string;
  hint: string | null;
  durationMs: number;
  facts: { os: string } | null;
}

export interface RunAnswer {
  status: string;
  steps: { name: string; status: string; message: string | null }[];
  error: { code: string; message: string } | null;
  finishedAt: string | null;
}

/** A service and somebody who has servers in it. */
export class ServerBench {
  private constructor(
    readonly app: TestApp,
    readonly ann: Person,
  ) {}

  static async start(): Promise<ServerBench> {
    const app = await TestApp.start();
    return new ServerBench(app, await app.register());
  }

  add<Body = ServerAnswer>(body: object) {
    return this.app.rest<Body>('POST', '/servers', { token: this.ann.token, body });
  }

  async get(id: string): Promise<ServerAnswer> {
    return (await this.app.rest<ServerAnswer>('GET', `/servers/${id}`, { token: this.ann.token })).body;
  }

  change<Body = ServerAnswer>(id: string, body: object) {
    return this.app.rest<Body>('PATCH', `/servers/${id}`, { token: this.ann.token, body });
  }

  /** Waits until a look has found it so. */
  until(id: string, status: ServerAnswer['status']): Promise<ServerAnswer> {
    return eventually(async () => {
      const server = await this.get(id);
      return server.status === status ? server : undefined;
    });
  }

  /** Waits until its security was looked at, which is told as well. */
  async untilJudged(id: string): Promise<void> {
    await eventually(async () => (await this.get(id)).security !== null);
  }

  /** As the clock does it every minute, but now. */
  async look(id: string): Promise<void> {
    const { boss } = this.app.app.queue;
    const send = () => boss.send('server.look', { serverId: id }, { singletonKey: id, group: { id } });
    // While the clock's own look is on its way there is no other.
    const job = await eventually(async () => (await send()) ?? undefined);
    await eventually(async () => (await boss.findJobs('server.look', { id: job }))[0]?.state === 'completed');
  }

  /** All that a test of a connection says. */
  async test(body: object): Promise<StepMessage[]> {
    const url = `${this.app.url}/api/v1/servers/test-connection`;
    const stream = await SseClient.open(url, { token: this.ann.token, body });
    const messages: StepMessage[] = [];
    for (let message = await stream.next(); message !== undefined; message = await stream.next())
      messages.push(JSON.parse(message.data) as StepMessage);
    return messages;
  }

  /** The run once it is over. */
  ended(path: string): Promise<RunAnswer> {
    return eventually(async () => {
      const { body } = await this.app.rest<RunAnswer>('GET', path, { token: this.ann.token });
      return body.finishedAt === null ? undefined : body;
    });
  }

  async stop(): Promise<void> {
    await this.app.stop();
  }
}

/** How each step ended: `TCP OK`, `AUTH FAILED`. */
export const outcomes = (messages: readonly StepMessage[]): string[] =>
  messages.filter(({ status }) => status !== 'RUNNING').map(({ step, status }) => `${step} ${status}`);
