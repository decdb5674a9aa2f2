import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { type App, createApp } from '../../src/app.ts';
import type { Log } from '../../src/http/log.ts';
import { type Answer, type GraphqlAnswer, graphqlCall, type RestOptions, restCall } from './doors.ts';
import { Mailbox } from './mailbox.ts';
import { silentLog, testConfig } from './settings.ts';
import { cloneDatabase, dropDatabase } from './test-database.ts';

export interface Person {
  email: string;
  password: string;
  token: string;
  refreshToken: string;
  id: string;
  workspaceId: string;
}

export const PASSWORD = 'correct horse battery';

/** A whole service on a database of its own, and the ways to call it. */
export class TestApp {
  readonly #clients: pg.Client[] = [];

  private constructor(
    readonly app: App,
    readonly url: string,
    readonly databaseUrl: string,
    readonly mailbox: Mailbox,
    private readonly ownsDatabase: boolean,
  ) {}

  static async start(
    settings: Record<string, string> = {},
    log: Log = silentLog,
    mailbox = new Mailbox(),
  ): Promise<TestApp> {
    const databaseUrl = settings.DATABASE_URL ?? (await cloneDatabase());
    const config = testConfig({ ...settings, DATABASE_URL: databaseUrl });
    const app = await createApp(config, log, text => mailbox.print(text)).catch(async error => {
      if (settings.DATABASE_URL === undefined) await dropDatabase(databaseUrl);
      throw error;
    });
    await new Promise<void>(resolve => app.server.listen(0, '127.0.0.1', resolve));
    const { port } = app.server.address() as AddressInfo;
    return new TestApp(app, `http://127.0.0.1:${port}`, databaseUrl, mailbox, settings.DATABASE_URL === undefined);
  }

  /** Another instance on the same database. Mails go out by whichever takes the job, so they share a mailbox. */
  twin(settings: Record<string, string> = {}): Promise<TestApp> {
    return TestApp.start({ ...settings, DATABASE_URL: this.databaseUrl }, silentLog, this.mailbox);
  }

  rest<Body = never>(method: string, path: string, options: RestOptions = {}): Promise<Answer<Body>> {
    return restCall(`${this.url}/api/v1${path}`, method, options);
  }

  graphql<Data = never>(query: string, variables?: object, token?: string): Promise<GraphqlAnswer<Data>> {
    return graphqlCall(`${this.url}/graphql`, { query, variables }, token);
  }

  /** A verified account with a workspace of its own, signed in. */
  async register(email = `${randomBytes(6).toString('hex')}@example.org`, extra: object = {}): Promise<Person> {
    const body = { email, password: PASSWORD, ...extra };
    const { challenge } = (await this.rest<{ challenge: string }>('POST', '/auth/register', { body })).body;
    const code = await this.mailbox.codeFor(email);
    const signedIn = await this.rest<SignedIn>('POST', '/auth/verify-otp', { body: { email, code, challenge } });
    const { accessToken, refreshToken, user } = signedIn.body;
    return { email, password: PASSWORD, token: accessToken, refreshToken, id: user.id, workspaceId: user.workspaceId };
  }

  /** Somebody invited into the workspace of `owner`. */
  async join(owner: Person, role: 'OWNER' | 'MEMBER' | 'VIEWER'): Promise<Person> {
    const email = `${randomBytes(6).toString('hex')}@example.org`;
    await this.rest('POST', '/members/invitations', { token: owner.token, body: { email, role } });
    return this.register(email, { invitation: await this.mailbox.invitationFor(email) });
  }

  async sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = this.#clients[0] ?? (await this.#connect());
    return (await client.query<Row>(text, values)).rows;
  }

  async stop(): Promise<void> {
    await this.app.stop();
    for (const client of this.#clients) await client.end();
    if (this.ownsDatabase) await dropDatabase(this.databaseUrl);
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.databaseUrl });
    this.#clients.push(client);
    await client.connect();
    return client;
  }
}

interface SignedIn {
  accessToken: string;
  refreshToken: string;
  user: { id: string; workspaceId: string };
}
