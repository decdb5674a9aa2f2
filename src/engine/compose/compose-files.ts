import type { Snapshot } from '../../analysis/snapshot/snapshot.ts';
import { DeployFailure } from '../deploy/deploy-failure.ts';
import type { ComposeProject } from './compose-project.ts';
import { type ComposeWish, readCompose } from './read-compose.ts';

/** A compose file and the files it names, taken out of a repository: enough to read it again without the repository. */
export interface ComposeFiles {
  file: string;
  text: string;
  others: Readonly<Record<string, string>>;
}

export type ComposeTold = Pick<ComposeWish, 'variables' | 'secrets' | 'port'>;

const MOST_BYTES = 256 * 1024;
const MOST_FILES = 20;

export async function gatherCompose(snapshot: Snapshot, file: string, told: ComposeTold): Promise<ComposeFiles> {
  const text = await readText(snapshot, file);
  if (text === null)
    throw new DeployFailure('COMPOSE_REFUSED', `There is no readable file ${file}`, 'Set build.composeFile.');
  const others = new Map<string, string>();
  for (const path of namedIn(file, text, told)) {
    const other = await readText(snapshot, path);
    if (other !== null) others.set(path, other);
  }
  return { file, text, others: Object.fromEntries(others) };
}

export function readGathered({ file, text, others }: ComposeFiles, told: ComposeTold): ComposeProject {
  const open = (path: string) => (Object.hasOwn(others, path) ? (others[path] ?? null) : null);
  return readCompose({ file, text, open, ...told });
}

/** Read once for the names alone: whatever is wrong with the file is told when it is read in earnest. */
function namedIn(file: string, text: string, told: ComposeTold): string[] {
  const named = new Set<string>();
  const open = (path: string) => {
    named.add(path);
    return '';
  };
  try {
    readCompose({ file, text, open, ...told });
  } catch (error) {
    if (!(error instanceof DeployFailure)) throw error;
  }
  return [...named].slice(0, MOST_FILES);
}

async function readText(snapshot: Snapshot, path: string): Promise<string | null> {
  const bytes = await snapshot.read(path, MOST_BYTES + 1);
  if (bytes === null) return null;
  if (bytes.length > MOST_BYTES)
    throw new DeployFailure('COMPOSE_REFUSED', `${path} is larger than ${MOST_BYTES / 1024} KB`, 'Make it smaller.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new DeployFailure('COMPOSE_REFUSED', `${path} is not UTF-8`, 'Save the file as UTF-8.');
  }
}
