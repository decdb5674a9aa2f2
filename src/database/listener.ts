import { Client, type ClientConfig } from 'pg';

type Hear = (payload: string) => void;

const PING_MS = 10_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 3000;

/**
 * Hears NOTIFY on a connection of its own. What is said while it is down is lost, so whoever listens
 * gives `onReconnect` too and looks for itself what it missed.
 */
export class Listener {
  readonly #ears = new Map<string, Set<Hear>>();
  readonly #reconnected = new Set<() => void>();
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #asked: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly config: ClientConfig,
    private readonly warn: (message: string, error: unknown) => void,
  ) {}

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  async start(): Promise<void> {
    await this.#connect();
    this.#timer = setInterval(() => void this.#ping(), PING_MS).unref();
  }

  /** `channel` comes from code, never from a caller. */
  async listen(channel: string, hear: Hear): Promise<() => void> {
    const ears = this.#ears.get(channel) ?? new Set();
    this.#ears.set(channel, ears.add(hear));
    const client = this.#client;
    if (client) await this.#ask(client, `listen "${channel}"`);
    return () => void ears.delete(hear);
  }

  onReconnect(look: () => void): () => void {
    this.#reconnected.add(look);
    return () => void this.#reconnected.delete(look);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }

  async #connect(): Promise<void> {
    const client = new Client({ ...this.config, keepAlive: true });
    client.on('notification', ({ channel, payload }) => this.#tell(channel, payload ?? ''));
    client.on('error', error => this.#lost(client, error));
    client.on('end', () => this.#lost(client, new Error('the connection ended')));
    try {
      await client.connect();
      for (const channel of this.#ears.keys()) await this.#ask(client, `listen "${channel}"`);
      if (this.#isStopped) throw new Error('stopped meanwhile');
      this.#client = client;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }

  /** One statement after the other: several ask at once, and the connection takes one at a time. */
  #ask(client: Client, text: string): Promise<unknown> {
    const answer = this.#asked.then(() => client.query(text));
    this.#asked = answer.catch(() => undefined);
    return answer;
  }

  #tell(channel: string, payload: string): void {
    for (const hear of this.#ears.get(channel) ?? []) hear(payload);
  }

  #lost(client: Client, error: unknown): void {
    if (this.#isStopped || this.#client !== client) return;
    this.#client = undefined;
    this.warn('The listening connection to the database was lost; connecting anew', error);
    client.end().catch(() => undefined);
    void this.#reconnect(FIRST_RETRY_MS);
  }

  async #reconnect(delayMs: number): Promise<void> {
    await new Promise(resolve => setTimeout(resolve, delayMs));
    if (this.#isStopped) return;
    try {
      await this.#connect();
      for (const look of this.#reconnected) look();
    } catch {
      // Told once when it was lost; until it is back there is nothing new to say.
      await this.#reconnect(Math.min(delayMs * 2, LAST_RETRY_MS));
    }
  }

  /** A connection whose other end vanished without a word is found out by asking. */
  async #ping(): Promise<void> {
    const client = this.#client;
    if (client === undefined) return;
    const deadline = setTimeout(() => this.#lost(client, new Error('no answer to a ping')), PING_MS / 2);
    await this.#ask(client, 'select 1').catch(error => this.#lost(client, error));
    clearTimeout(deadline);
  }
}
