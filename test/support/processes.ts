import { readdirSync, readFileSync } from 'node:fs';

/** The processes of this machine that have the text among their words, zombies left out. */
export const processesSaying = (text: string): number[] =>
  pids().filter(pid => read(pid, 'cmdline').includes(text) && pid !== process.pid);

/** Those that carry a variable in their environment. */
export const processesMarked = (name: string, value: string): number[] =>
  pids().filter(pid => read(pid, 'environ').split('\0').includes(`${name}=${value}`));

export const childrenOf = (parent: number): number[] =>
  pids().filter(pid =>
    read(pid, 'stat')
      .replace(/^.*\) \S /s, '')
      .startsWith(`${parent} `),
  );

const pids = (): number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number);

/** A process may be gone before it is looked at; then it says nothing. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
