import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Command } from '../commands/command.ts';
import { collect } from './collect.ts';
import { converse, type Program } from './conversation.ts';
import { Dialogue } from './dialogue.ts';
import { DialFailure, type Host, RemoteFailure, type RunOptions, type RunResult, type StreamOptions } from './host.ts';

/** The machine we run on. Programs are started by their words, without a shell, in a group of their own that ends as one. */
export class LocalHost implements Host {
  constructor(private readonly path: string) {}

  run(command: Command, options: RunOptions = {}): Promise<RunResult> {
    return collect((said, how) => this.stream(said, how), command, options);
  }

  async stream(command: Command, options: StreamOptions = {}) {
    return converse(this.#start(command, options.env), options);
  }

  async converse(command: Command): Promise<Duplex> {
    return new Dialogue(this.#start(command));
  }

  dial(port: number): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port });
      const fail = (error: Error) => reject(new DialFailure(port, 'REFUSED', error));
      socket.once('error', fail);
      socket.once('connect', () => resolve(socket.off('error', fail)));
    });
  }

  #start(command: Command, variables: StreamOptions['env'] = {}): Program {
    const [name = '', ...args] = command.words;
    const env = { PATH: this.path, LC_ALL: 'C', ...variables };
    const child = spawn(name, args, { env, detached: true });
    const { stdin, stdout, stderr } = child;
    return { name, stdin, stdout, stderr, ended: endOf(child, name), end: () => endGroup(child) };
  }
}

const endOf = (child: ChildProcessWithoutNullStreams, name: string): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once('error', error => reject(new RemoteFailure(name, null, '', 'NOT_STARTED', error)));
    child.once('close', resolve);
  });

async function endGroup(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.pid === undefined) return;
  const ended = new Promise(resolve => child.once('exit', resolve));
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already: then there is nothing left to end.
    return;
  }
  if (child.exitCode === null && child.signalCode === null) await ended;
}
