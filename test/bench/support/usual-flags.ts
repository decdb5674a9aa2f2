import { readFileSync } from 'node:fs';

/** What `npm start` says to Node. */
export function usualFlags(): string[] {
  const file = new URL('../../../package.json', import.meta.url);
  const { scripts } = JSON.parse(readFileSync(file, 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').filter(word => word.startsWith('--'));
}
