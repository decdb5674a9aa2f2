import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalHost } from '../../src/remote/local-host.ts';
import { RemoteWork } from '../../src/remote/remote-work.ts';
import { processesSaying } from './processes.ts';
import { hasProgram } from './ssh-daemon.ts';

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
const PATH = process.env.PATH ?? '';
const folders: string[] = [];

/** The same scripts under the shells and tools that servers have; each, and whether it is to be had here. */
export const workMachines: [string, boolean, () => RemoteWork][] = [
  ['the tools of this machine', isLinux, () => new RemoteWork(new LocalHost(PATH))],
  ['nothing but busybox', isLinux && hasProgram('busybox'), () => new RemoteWork(new LocalHost(busyboxPath()))],
  ['bash as sh', isLinux && hasProgram('bash'), () => new RemoteWork(new LocalHost(`${bashAsSh()}:${PATH}`))],
  [
    'an ordinary user',
    isLinux && isRoot && hasProgram('setpriv'),
    () => new RemoteWork(new LocalHost(PATH), ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']),
  ],
];

export function removeTools(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** The process that keeps a piece of work; it was there before its watch. */
export const keeperOf = (id: string): number => processesSaying(`slipway-work\0${id}`).sort((a, b) => a - b)[0] ?? 0;

function busyboxPath(): string {
  const folder = toolFolder();
  const busybox = execFileSync('which', ['busybox']).toString().trim();
  for (const name of execFileSync(busybox, ['--list']).toString().trim().split('\n'))
    symlinkSync(busybox, join(folder, name));
  return folder;
}

function bashAsSh(): string {
  const folder = toolFolder();
  symlinkSync(execFileSync('which', ['bash']).toString().trim(), join(folder, 'sh'));
  return folder;
}

function toolFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-tools-'));
  folders.push(folder);
  return folder;
}
