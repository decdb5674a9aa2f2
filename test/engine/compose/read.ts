import { gatherCompose, readGathered } from '../../../src/engine/compose/compose-files.ts';
import type { ComposeProject } from '../../../src/engine/compose/compose-project.ts';
import { DeployFailure } from '../../../src/engine/deploy/deploy-failure.ts';
import { MemorySnapshot } from '../../support/memory-snapshot.ts';

interface Told {
  variables?: Record<string, string>;
  port?: number | null;
  secrets?: readonly string[];
  files?: Record<string, string>;
  file?: string;
}

/** Reads a compose file out of a repository, as a deployment does. */
export async function read(text: string, told: Told = {}): Promise<ComposeProject> {
  const { variables = {}, port = null, files = {}, file = 'compose.yaml' } = told;
  const snapshot = new MemorySnapshot({ [file]: text, ...files });
  const given = { variables, secrets: new Set(told.secrets), port };
  return readGathered(await gatherCompose(snapshot, file, given), given);
}

/** Why it is refused. */
export async function refusal(text: string, told: Told = {}): Promise<DeployFailure> {
  const outcome = await read(text, told).catch((error: unknown) => error);
  if (outcome instanceof DeployFailure) return outcome;
  throw outcome instanceof Error ? outcome : new Error(`It was let through: ${JSON.stringify(outcome)}`);
}
