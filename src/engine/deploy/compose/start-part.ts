import { setTimeout as pause } from 'node:timers/promises';
import { DeploymentPhase } from '../../../entities/deployment.ts';
import { wholeOutput } from '../../../integrations/docker/whole-output.ts';
import type { ComposeDependency } from '../../compose/compose-project.ts';
import { DeployFailure } from '../deploy-failure.ts';
import { DeployCancelled, type Machine } from '../deploy-step.ts';
import { keptContainerName, LABEL, networkName, releaseNetworkName } from '../names.ts';
import type { Release } from '../release.ts';
import { ensureVolumes } from './ensure-volumes.ts';
import { setAside } from './kept-services.ts';
import type { Part } from './layout.ts';
import { aliasesOf, partContainer } from './part-container.ts';

const JOB_MS = 15 * 60_000;
const HEALTHY_MS = 5 * 60_000;
const LOOK_MS = 500;

/** Starts one service when those it depends on are as far as it wants them. One that is there already is left as it is. */
export async function startPart(release: Release, machine: Machine, part: Part, all: readonly Part[]): Promise<void> {
  for (const dependency of part.service.dependsOn) await awaitDependency(release, machine, dependency, all);
  if (part.kind === 'KEPT') await keepUp(release, machine, part);
  else if (part.kind === 'JOB') await runJob(release, machine, part);
  else await startOwn(release, machine, part);
}

/** One that is as it should be goes on running; another takes the place of the one before, with the same data. */
async function keepUp(release: Release, { docker }: Machine, part: Part): Promise<void> {
  const { environment, deployment, log } = release;
  const { name } = part.service;
  const spec = partContainer(release, part);
  const there = await docker.inspectContainer(keptContainerName(environment.id, name));
  if (there?.labels[LABEL.spec] === spec.labels[LABEL.spec]) {
    if (there?.isRunning) await log.line(`The service ${name} is as it was, and goes on running`);
  } else {
    if (there !== null) await log.line(`The service ${name} has changed: it is replaced, with its data`);
    await setAside(docker, environment.id, name, deployment.id);
    await ensureVolumes(docker, release, spec);
    await docker.createContainer(spec);
  }
  await docker.connectNetwork(releaseNetworkName(deployment.id), spec.name, aliasesOf(part));
  await docker.startContainer(spec.name);
}

/** It is in two networks: that of its release, where names are those of the file, and that of its environment. */
async function startOwn(release: Release, { docker }: Machine, part: Part): Promise<void> {
  const spec = partContainer(release, part);
  // One that has ended since was meant to.
  if ((await docker.inspectContainer(spec.name))?.startedAt != null) return;
  await ensureVolumes(docker, release, spec);
  await docker.createContainer(spec);
  await docker.connectNetwork(networkName(release.environment.id), spec.name, []);
  await docker.startContainer(spec.name);
}

/** Once, whoever takes the deployment up; and not at all where a release is brought back, for which it ran before. */
async function runJob(release: Release, machine: Machine, part: Part): Promise<void> {
  const { log, isRollback } = release;
  const { name } = part.service;
  if (isRollback) return log.line(`The job ${name} ran when this release was first deployed, and is not run again`);
  const { docker } = machine;
  const title = `Running the job ${name}`;
  const there = await docker.inspectContainer(part.container);
  if (there?.startedAt == null) {
    await log.line(title);
    await startOwn(release, machine, part);
  } else if (!there.isRunning && there.exitCode === 0) return;
  else await log.passOver(DeploymentPhase.STARTING, title);
  await follow(release, machine, part);
  const state = await docker.inspectContainer(part.container);
  if (state?.exitCode === 0) return;
  throw new DeployFailure(
    state?.isOutOfMemory ? 'OUT_OF_MEMORY' : 'START_FAILED',
    `The job ${name} ended with ${state?.exitCode ?? 'no exit code'}`,
    'Its output is in the log above; the release before still serves.',
  );
}

async function follow({ log, endings }: Release, { docker }: Machine, part: Part): Promise<void> {
  const late = AbortSignal.timeout(JOB_MS);
  const signal = AbortSignal.any([endings.cancelled, endings.leave, late]);
  try {
    const onOutput = (chunk: Buffer, from: 'stdout' | 'stderr') => log.write(chunk, from);
    await wholeOutput(docker, part.container, { signal, onOutput });
    await log.flush();
  } catch (error) {
    if (!signal.aborted || endings.leave.aborted) throw error;
    if (endings.cancelled.aborted) throw new DeployCancelled();
    throw new DeployFailure(
      'TIMED_OUT',
      `The job ${part.service.name} took longer than 15 minutes`,
      'Make it shorter.',
    );
  }
}

/** A job has ended when the next one begins, and a service that says nothing of its health is taken at its word. */
async function awaitDependency(
  { endings, isRollback }: Release,
  { docker }: Machine,
  { service, condition }: ComposeDependency,
  all: readonly Part[],
): Promise<void> {
  const needed = all.find(part => part.service.name === service);
  if (needed === undefined || condition !== 'HEALTHY' || (needed.kind === 'JOB' && isRollback)) return;
  const until = performance.now() + HEALTHY_MS;
  const signal = AbortSignal.any([endings.cancelled, endings.leave]);
  for (;;) {
    const state = await docker.inspectContainer(needed.container);
    if (state === null || state.health === null || state.health === 'healthy') return;
    if (state.health === 'unhealthy' || performance.now() > until) throw notHealthy(service);
    await pause(LOOK_MS, undefined, { signal }).catch(error => {
      throw endings.cancelled.aborted ? new DeployCancelled() : error;
    });
  }
}

const notHealthy = (service: string): DeployFailure =>
  new DeployFailure(
    'START_FAILED',
    `The service ${service} did not become healthy`,
    'Another one waits for it. Check its healthcheck in the compose file, and the variables it needs.',
  );
