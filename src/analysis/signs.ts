import type { Found } from './finding.ts';
import type { Folder } from './repository/folder.ts';
import type { Stack } from './stack.ts';
import { allStacks } from './stacks/all-stacks.ts';

export interface SeenStack {
  readonly stack: Stack;
  readonly sign: Found<string>;
}

/** Every language a folder shows a sign of, the surest first. */
export function signsIn(folder: Folder): SeenStack[] {
  const seen = allStacks.flatMap(stack => {
    const sign = stack.sign(folder);
    return sign === null ? [] : [{ stack, sign }];
  });
  return seen.sort((a, b) => b.sign.confidence - a.sign.confidence);
}
