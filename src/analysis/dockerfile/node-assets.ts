import type { Folder } from '../repository/folder.ts';
import { copy, from, type Instruction, run } from './dockerfile.ts';

/** Scripts and styles that an application in another language has built by Node. */
export interface NodeAssets {
  readonly manifests: readonly string[];
  readonly install: string;
}

const byLock: readonly (readonly [lock: string, install: string])[] = [
  ['package-lock.json', 'npm ci'],
  ['yarn.lock', 'npm install -g --force yarn && yarn install --frozen-lockfile'],
  ['pnpm-lock.yaml', 'npm install -g pnpm@10 && pnpm install --frozen-lockfile'],
];

export function nodeAssetsOf(folder: Folder): NodeAssets | null {
  if (!folder.has('package.json')) return null;
  const [lock, install] = byLock.find(([file]) => folder.has(file)) ?? [null, 'npm install'];
  return { manifests: ['package.json', ...(lock === null ? [] : [lock])], install };
}

const image = 'node:24-bookworm-slim';

/** A stage to take Node from. */
export const nodeStage = (isNeeded: boolean): Instruction => isNeeded && from(image, 'node');

/** Node and npm out of that stage: what the distribution packages is too old for today's bundlers. */
export function nodeTools(isNeeded: boolean): Instruction[] {
  if (!isNeeded) return [];
  return [
    copy(['/usr/local/bin/node'], '/usr/local/bin/node', { from: 'node' }),
    copy(['/usr/local/lib/node_modules'], '/usr/local/lib/node_modules', { from: 'node' }),
    run(
      'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx',
    ),
  ];
}
