import { type CacheMount, type Instruction, run, type SecretMount } from './dockerfile.ts';

/**
 * Docker does not look into a secret when it decides whether a step is still good. The argument is a digest of the
 * variables, given by whoever starts the build, and stands as late as it can: the dependencies before it stay cached.
 */
export function buildStep(
  { buildCommand, secrets }: { readonly buildCommand: string | null; readonly secrets: readonly SecretMount[] },
  ...caches: readonly CacheMount[]
): Instruction[] {
  const step = run(buildCommand, ...caches, ...secrets);
  return [typeof step === 'string' && secrets.length > 0 && 'ARG BUILD_VARIABLES', step];
}
