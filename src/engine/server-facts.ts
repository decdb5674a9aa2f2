import { asRoot, dockerVersion, readFacts } from '../commands/system.commands.ts';
import type { ServerFacts } from '../entities/server.ts';
import { type Host, RemoteFailure } from '../remote/host.ts';
import { saidText } from '../remote/said-text.ts';

export interface Survey {
  facts: ServerFacts;
  isRoot: boolean;
}

const TIMEOUT_MS = 10_000;
const LONGEST_TEXT = 200;

/** What a machine says of itself. It may say anything: only as much is taken as fits. */
export async function survey(host: Host, signal?: AbortSignal): Promise<Survey> {
  const options = { timeoutMs: TIMEOUT_MS, maxOutputBytes: 64 * 1024, ...(signal ? { signal } : {}) };
  const { stdout } = await host.run(readFacts(), options);
  const said = new Map(stdout.toString().split('\n').map(splitLine));
  const isRoot = said.get('uid') === '0';
  const facts = {
    os: textOf(said.get('os')),
    kernel: textOf(said.get('kernel')),
    arch: textOf(said.get('arch')),
    cpus: wholeOf(said.get('cpus')),
    memoryMb: wholeOf(said.get('memoryMb')),
    diskFreeMb: wholeOf(said.get('diskFreeMb')),
    docker: await dockerOf(host, isRoot, signal),
  };
  return { facts, isRoot };
}

/** Null where there is none, or none that this user may ask. */
export async function dockerOf(host: Host, isRoot: boolean, signal?: AbortSignal): Promise<string | null> {
  const options = { timeoutMs: TIMEOUT_MS, maxOutputBytes: 4096, ...(signal ? { signal } : {}) };
  try {
    const { stdout } = await host.run(asRoot(dockerVersion(), isRoot), options);
    const version = stdout.toString().trim();
    return version === '' ? null : textOf(version);
  } catch (error) {
    if (error instanceof RemoteFailure && error.reason === 'EXIT') return null;
    throw error;
  }
}

function splitLine(line: string): [string, string] {
  const at = line.indexOf('=');
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}

const textOf = (text: string | undefined): string => saidText(text ?? '', LONGEST_TEXT) || 'unknown';

const MOST = 2 ** 31 - 1;

function wholeOf(text: string | undefined): number {
  const number = Number.parseInt(text ?? '', 10);
  return Number.isInteger(number) && number > 0 ? Math.min(number, MOST) : 0;
}
