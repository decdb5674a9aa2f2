import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Command } from '../commands/command.ts';
import { collect } from './collect.ts';
import { converse } from './conversation.ts';
import { type Host, RemoteFailure, type RunOptions, type RunResult, type StreamOptions } from './host.ts';

/** The machine we run on. Programs are started by their words, without a shell, in a group of their own that ends as one. */
export class LocalHost implements Host {
  constructor(private readonly path: string) {}

  run(command: Command, options: RunOptions = {}): Promise<RunResult> {
    return collect((said, how) => this.stream(said, how), command, options);
  }

  async stream(command: Command, options: StreamOptions = {}) {
    const [name = '', ...args] = command.words;
    const env = { PATH: this.path, LC_ALL: 'C', ...options.env };
    const child = spawn(name, args, { env, detached: true });
    const { stdin, stdout, stderr } = child;
    return converse({ name, stdin, stdout, stderr, ended: endOf(child, name), end: () => endGroup(child) }, options);
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
