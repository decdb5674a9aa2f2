import { setTimeout as pause } from 'node:timers/promises';
import { DeployFailure } from './deploy-failure.ts';
import { DeployCancelled, type Machine } from './deploy-step.ts';
import { askHealth, isHealthy, saidOf } from './health.ts';
import type { Endings, Release } from './release.ts';

/** What does not listen proves itself by going on running for so long. */
export const SETTLED_MS = 5000;
const TAIL_LINES = 100;

export const MEMORY_HINT = 'Give it more memory with resources.memoryMb, or use less.';

const FIRST_WAIT_MS = 100;

/**
 * Asks until it answers well; then null, else what it said last. Most answer within a second: they are asked soon and often at first.
 * `look` comes before each question, and can end it by throwing.
 */
export async function askOften(
  { environment, endings, log }: Release,
  { host }: Machine,
  hostPort: number,
  look: () => Promise<void>,
): Promise<string | null> {
  const { healthCheck } = environment;
  const intervalMs = healthCheck.intervalSeconds * 1000;
  const until = performance.now() + healthCheck.retries * intervalMs;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(intervalMs, waitMs * 2)) {
    await look();
    const answer = await askHealth(() => host.dial(hostPort), healthCheck);
    if (isHealthy(answer)) {
      await log.line(`${healthCheck.path} answered ${saidOf(answer)}`);
      return null;
    }
    if (performance.now() + waitMs > until) return saidOf(answer);
    await pauseFor(endings, waitMs);
  }
}

export function healthTimeout({ environment, deployment }: Release, said: string): DeployFailure {
  return new DeployFailure(
    'HEALTH_TIMEOUT',
    `${environment.healthCheck.path} on port ${deployment.appPort} did not answer well: last ${said}`,
    `It must listen on 0.0.0.0:${deployment.appPort} and answer with 2xx or 3xx; see build.port and healthCheck.`,
  );
}

export async function pauseFor({ cancelled, leave }: Endings, ms: number): Promise<void> {
  try {
    await pause(ms, undefined, { signal: AbortSignal.any([cancelled, leave]) });
  } catch (error) {
    throw cancelled.aborted ? new DeployCancelled() : error;
  }
}

/** What the application said is what helps whoever has to mend it. */
export async function tellOutput({ log }: Release, { docker }: Machine, container: string): Promise<void> {
  await docker.containerLogs(container, { tail: TAIL_LINES, onOutput: (chunk, from) => log.write(chunk, from) });
}
