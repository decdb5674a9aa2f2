import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { DuplexHttp, type Open, type Question } from '../duplex-http.ts';
import type { EngineVersion } from './docker-answers.ts';
import { DockerFault } from './docker-fault.ts';

/** Of Docker 20.10. Newer ones still speak it, up to where they say themselves that they do not. */
const API_VERSION = '1.41';

interface Told {
  Version: string;
  ApiVersion: string;
  MinAPIVersion: string;
}

/** Questions to an engine and its answers, in the version of the API that both know. */
export class DockerEngine {
  readonly #http: DuplexHttp;
  #prefix: Promise<string> | undefined;

  constructor(open: Open) {
    this.#http = new DuplexHttp(open, 'docker');
  }

  async version(): Promise<EngineVersion> {
    const told = await this.#http.ask({ method: 'GET', path: '/version' }, answer => read<Told>(answer));
    return { version: told.Version, apiVersion: told.ApiVersion, minApiVersion: told.MinAPIVersion };
  }

  /** Fails with a `DockerFault` unless the answer is that it was done. */
  ask<Answer>(question: Question): Promise<Answer> {
    return this.listen(question, answer => read<Answer>(answer));
  }

  /** The same, where not to be there is an answer, too. */
  async find<Answer>(question: Question): Promise<Answer | null> {
    try {
      return await this.ask<Answer>(question);
    } catch (error) {
      if (error instanceof DockerFault && error.status === 404) return null;
      throw error;
    }
  }

  /** For answers that are not JSON, or come bit by bit. */
  async listen<Result>(question: Question, hear: (answer: IncomingMessage) => Promise<Result>): Promise<Result> {
    const prefix = await this.#versioned();
    return this.#http.ask({ ...question, path: prefix + question.path }, async answer => {
      await refuse(answer);
      return hear(answer);
    });
  }

  close(): void {
    this.#http.close();
  }

  #versioned(): Promise<string> {
    this.#prefix ??= this.version().then(
      ({ minApiVersion }) => `/v${newerOf(API_VERSION, minApiVersion)}`,
      error => {
        this.#prefix = undefined;
        throw error;
      },
    );
    return this.#prefix;
  }
}

async function read<Answer>(answer: IncomingMessage): Promise<Answer> {
  await refuse(answer);
  const said = await text(answer);
  const isJson = /json/.test(answer.headers['content-type'] ?? '') && said !== '';
  return (isJson ? JSON.parse(said) : undefined) as Answer;
}

async function refuse(answer: IncomingMessage): Promise<void> {
  const { statusCode = 0 } = answer;
  if (statusCode < 400) return;
  throw new DockerFault(statusCode, messageIn(await text(answer)) || `Docker answered ${statusCode}`);
}

function messageIn(body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === 'string' ? message : body.trim();
  } catch {
    return body.trim();
  }
}

function newerOf(ours: string, theirs: string): string {
  const [[major = 0, minor = 0], [theirMajor = 0, theirMinor = 0]] = [numbersOf(ours), numbersOf(theirs)];
  return theirMajor > major || (theirMajor === major && theirMinor > minor) ? theirs : ours;
}

const numbersOf = (version: string): number[] => version.split('.').map(Number);
