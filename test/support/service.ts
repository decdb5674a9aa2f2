import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isBuilt } from '../../scripts/built.mjs';
import { eventually } from './eventually.ts';

const fileOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export interface LogLine {
  level: number;
  msg: string;
  port?: number;
  [name: string]: unknown;
}

export const EMAIL = 'operator@example.org';
export const PASSWORD = 'correct horse battery';

const USUAL = {
  NODE_ENV: 'development',
  PORT: '0',
  LOG_FORMAT: 'json',
  RATE_LIMIT: 'off',
  RATE_LIMIT_AUTH: 'off',
  RATE_LIMIT_EMAIL: 'off',
  SLOW_DOWN: 'off',
  BOOTSTRAP_EMAIL: EMAIL,
  BOOTSTRAP_PASSWORD: PASSWORD,
};

let isFresh: boolean | undefined;

/** The service as its users run it, in a process of its own that can be stopped, killed and frozen. */
export class Service {
  readonly lines: LogLine[] = [];
  /** Whatever it said that was no line of the log: mails, codes, a reason to stop. */
  said = '';
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor(env: Record<string, string>, fromBuild = Service.isBuilt) {
    const words = fromBuild
      ? [fileOf('dist/main.js')]
      : ['--no-warnings', '--import', fileOf('test/support/swc-loader.mjs'), fileOf('src/main.ts')];
    const inherited = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR };
    this.#child = spawn(process.execPath, words, { env: { ...inherited, ...USUAL, ...env } });
    this.exited = once(this.#child, 'exit').then(([code]) => code as number | null);
    this.#child.stderr?.on('data', chunk => {
      this.said += chunk;
    });
    if (this.#child.stdout) createInterface(this.#child.stdout).on('line', line => this.#hear(line));
  }

  /** Built as `npm start` builds it, from the sources as they are: that starts in a fraction of the time. */
  static get isBuilt(): boolean {
    isFresh ??= isBuilt();
    return isFresh;
  }

  static async start(env: Record<string, string>, fromBuild = Service.isBuilt): Promise<Service> {
    const service = new Service(env, fromBuild);
    await service.listening();
    return service;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get url(): string {
    const port = this.lines.find(line => line.port !== undefined)?.port;
    if (port === undefined) throw new Error(`it does not listen: ${this.said}`);
    return `http://127.0.0.1:${port}`;
  }

  async listening(): Promise<void> {
    await eventually(() => {
      if (!this.isRunning) throw new Error(`The service ended: ${this.said} ${JSON.stringify(this.lines.slice(-5))}`);
      return this.lines.some(({ port }) => port !== undefined);
    }, 60_000);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  async stop(): Promise<number | null> {
    this.signal('SIGTERM');
    return this.exited;
  }

  async signIn(): Promise<string> {
    const response = await fetch(`${this.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
    });
    return ((await response.json()) as { accessToken: string }).accessToken;
  }

  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  }

  #hear(line: string): void {
    if (line.startsWith('{"level"')) this.lines.push(JSON.parse(line) as LogLine);
    else this.said += `${line}\n`;
  }
}
