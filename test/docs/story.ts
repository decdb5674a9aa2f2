import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { TestApp } from '../support/create-app.ts';
import { differences, fill, type Seen } from './expectation.ts';
import { type Block, ROOT } from './markdown.ts';
import { Program } from './program.ts';

/** Where the pages say that the service is. */
const BASE_URL = 'http://127.0.0.1:3000';
const PATIENCE_MS = 10_000;
const STAND_IN = fileURLToPath(new URL('./curl.mjs', import.meta.url));
const NODE_WORDS = ['--experimental-eventsource', '--no-warnings', '--input-type=module'];

/** Things that happen on a page without a command of its reader: `<!-- test: NAME -->`. */
export type Happenings = Record<string, (app: TestApp, shell: (text: string) => Promise<void>) => Promise<void>>;

/**
 * Does what a page tells its reader to do, block by block, and compares what the page shows with what came of it:
 * `run` does it, `answer` shows what the last one said, `console` what the service printed, `stream` goes on by itself.
 */
export class Story {
  readonly #seen: Seen = new Map();
  #program: Program | undefined;
  #answered = '';
  #isStream = false;
  #read = 0;

  private constructor(
    private readonly app: TestApp,
    private readonly folder: string,
    private readonly happenings: Happenings,
  ) {}

  static async begin(app: TestApp, happenings: Happenings, hasRealCurl = findCurl()): Promise<Story> {
    const folder = await mkdtemp(join(tmpdir(), 'slipway-docs-'));
    await writeFile(join(folder, 'state.sh'), '');
    const standIn = `#!/bin/sh\nexec '${process.execPath}' '${STAND_IN}' "$@"\n`;
    if (!hasRealCurl) await writeFile(join(folder, 'curl'), standIn, { mode: 0o755 });
    return new Story(app, folder, happenings);
  }

  async tell(block: Block): Promise<void> {
    const { language, words } = block;
    if (language === 'test') await this.#happen(words.join(' '));
    else if (words.includes('console')) await this.#until(() => this.#compareConsole(block));
    else if (words.includes('answer')) await this.#until(() => this.#compareAnswer(block), this.#isStream);
    else if (words.includes('run')) await this.#run(block);
  }

  async end(): Promise<void> {
    await this.#program?.stop();
    await rm(this.folder, { recursive: true });
  }

  async #happen(name: string): Promise<void> {
    const happen = this.happenings[name];
    if (happen === undefined) throw new Error(`nobody knows how to make "${name}" happen`);
    await happen(this.app, text => this.#shell(text).finish());
  }

  async #run({ language, words, text: written }: Block): Promise<void> {
    await this.#program?.stop();
    this.#isStream = words.includes('stream');
    const text = fill(written, this.#seen).replaceAll(BASE_URL, this.app.url);
    if (language === 'graphql') {
      this.#program = undefined;
      this.#answered = JSON.stringify(await this.#ask(text));
      return;
    }
    this.#program = language === 'js' ? this.#node(text) : this.#shell(text);
    if (!this.#isStream) await this.#program.finish();
  }

  async #ask(query: string): Promise<object> {
    const { data, errors } = await this.app.graphql(query, undefined, this.#token());
    return errors === undefined ? { data } : { data, errors };
  }

  /** The one variable of the shell that other languages read too. */
  #token(): string | undefined {
    return /^export TOKEN='?([^'\n]*)/m.exec(readFileSync(join(this.folder, 'state.sh'), 'utf8'))?.[1];
  }

  /** What one block sets, the next one knows. */
  #shell(text: string): Program {
    const script = `set -a\n. ./state.sh\n${text}\nexport -p > state.sh\n`;
    const env = { ...process.env, PATH: `${this.folder}${delimiter}${process.env.PATH}` };
    return new Program('sh', ['-eu'], script, { cwd: this.folder, env });
  }

  #node(text: string): Program {
    const env = { ...process.env, NODE_OPTIONS: '', TOKEN: this.#token() };
    return new Program(process.execPath, NODE_WORDS, text, { cwd: ROOT, env });
  }

  /** What goes on by itself, a stream or a mail on its way, is given time. */
  async #until(compare: () => string[], isPatient = true): Promise<void> {
    const deadline = isPatient ? Date.now() + PATIENCE_MS : 0;
    let faults = compare();
    while (faults.length > 0 && Date.now() < deadline) {
      await pause(50);
      faults = compare();
    }
    const { said = this.#answered, complaints = '' } = this.#program ?? {};
    if (faults.length > 0) throw new Error([...faults, 'All that was said:', said, complaints].join('\n'));
  }

  #compareConsole({ text }: Block): string[] {
    const printed = this.app.mailbox.printed.slice(this.#read);
    for (const [index, each] of printed.entries()) {
      if (differences(trim(text), trim(each), this.#seen, 'console').length > 0) continue;
      this.#read += index + 1;
      return [];
    }
    return [`console: the page says ${text}, the service printed ${printed.join('\n')}`];
  }

  #compareAnswer({ language, text }: Block): string[] {
    const said = (this.#program?.said ?? this.#answered).replaceAll(this.app.url, BASE_URL);
    if (language === 'json') return differences(JSON.parse(text), parse(said), this.#seen);
    if (language === 'http') return this.#compareHttp(text, said);
    return differences(trim(text), trim(said), this.#seen);
  }

  /** A page shows the headers it speaks of; there are more. */
  #compareHttp(shown: string, said: string): string[] {
    const [head = '', body] = shown.split('\n\n');
    const [realHead = '', realBody = ''] = said.replaceAll('\r', '').split('\n\n');
    const lines = linesOf(realHead);
    const missing = linesOf(head).filter(
      wanted => !lines.some(line => differences(wanted, line, this.#seen).length === 0),
    );
    const faults = missing.map(line => `the page shows ${line}, the answer had\n${realHead}`);
    if (body === undefined || body.trim() === '') return faults;
    return [...faults, ...differences(JSON.parse(body), parse(realBody), this.#seen)];
  }
}

/** Names of headers are the same in any case. */
const linesOf = (head: string): string[] =>
  head
    .trim()
    .split('\n')
    .map(line => line.replace(/^[\w-]+(?=:)/, name => name.toLowerCase()));

const trim = (text: string): string => text.replace(/[ \r]+$/gm, '').trim();

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function findCurl(): boolean {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
