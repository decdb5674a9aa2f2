import { Command, type Word } from './command.ts';

/** The same words said as root. `-n`: where sudo would ask for a password it fails instead of waiting for ever. */
export const asRoot = (username: string, ...words: readonly Word[]): Command =>
  username === 'root' ? Command.of(...words) : Command.of('sudo', '-n', '--', ...words);
