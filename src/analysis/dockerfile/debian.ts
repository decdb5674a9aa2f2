import { type Instruction, run } from './dockerfile.ts';

/** The lists of packages are of no use in an image, and out of date in its cache. */
export function aptInstall(...packages: readonly string[]): Instruction {
  const wanted = [...new Set(packages)];
  if (wanted.length === 0) return null;
  return run(
    `apt-get update && apt-get install -y --no-install-recommends ${wanted.join(' ')} && rm -rf /var/lib/apt/lists/*`,
  );
}

/** One fixed number, so that a volume keeps its owner from release to release. */
export const addUser = (): Instruction => run('useradd --system --uid 10001 --create-home app');
