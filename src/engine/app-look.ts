import { BuilderKind } from '../entities/build.ts';
import type { Deployment } from '../entities/deployment.ts';
import { type AppWatch, type Environment, EnvironmentStatus } from '../entities/environment.ts';
import type { ContainerState } from '../integrations/docker/docker-answers.ts';
import type { DockerApi } from '../integrations/docker/docker-api.ts';
import type { Host } from '../remote/host.ts';
import { allKeptServices } from './deploy/compose/kept-services.ts';
import { DeployFailure } from './deploy/deploy-failure.ts';
import { askHealth, type HealthAnswer, isHealthy, saidOf } from './deploy/health.ts';
import { hasEndedWell, LABEL } from './deploy/names.ts';
import { openDocker } from './deploy/server-docker.ts';

/** An application that should be serving. */
export interface App {
  environment: Environment;
  deployment: Deployment;
}

/** What was seen of one. */
export interface AppLook {
  /** Null where Docker itself did not answer. */
  containers: readonly ContainerState[] | null;
  /** Null for one that does not listen. */
  answer: HealthAnswer | null;
}

export interface Verdict {
  status: EnvironmentStatus;
  statusReason: string | null;
  watch: AppWatch;
}

/** One bad answer proves little; so many in a row are no accident. */
const MISSES = 3;
const SIDE_BY_SIDE = 8;

/** Looks at the applications of one server, over its one connection. */
export async function lookAtApps(host: Host, apps: readonly App[]): Promise<Map<App, AppLook>> {
  const containers = await readContainers(host, apps);
  const looks = new Map<App, AppLook>();
  const left = [...apps];
  const lookOn = async () => {
    for (let app = left.pop(); app !== undefined; app = left.pop())
      looks.set(app, { containers: containers?.get(app) ?? null, answer: await ask(host, app) });
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lookOn));
  return looks;
}

/** LIVE is said of what answers, DEGRADED of what runs badly, DOWN of what does not serve. */
export function judge({ environment, deployment }: App, { containers, answer }: AppLook): Verdict {
  const { id: deploymentId } = deployment;
  const known = environment.watch?.deploymentId === deploymentId ? environment.watch : null;
  // What is kept over releases may have been started anew long ago.
  const own = containers?.filter(({ labels }) => labels[LABEL.role] === 'app');
  const restarts = own?.reduce((sum, { restartCount }) => sum + restartCount, 0) ?? known?.restarts ?? 0;
  const isBad = answer !== null && !isHealthy(answer);
  const watch = { deploymentId, restarts, misses: isBad ? (known?.misses ?? 0) + 1 : 0 };
  const verdict = (status: EnvironmentStatus, statusReason: string | null) => ({ status, statusReason, watch });
  const ended = whyEnded(containers);
  if (ended !== undefined) return verdict(EnvironmentStatus.DOWN, ended);
  if (isBad) {
    const status = watch.misses >= MISSES ? EnvironmentStatus.DOWN : EnvironmentStatus.DEGRADED;
    return verdict(status, `${environment.healthCheck.path} does not answer well: ${saidOf(answer)}`);
  }
  // Services of a compose file may have failed until they found each other.
  const before = known?.restarts ?? (deployment.builder === BuilderKind.COMPOSE ? restarts : 0);
  if (restarts > before) return verdict(EnvironmentStatus.DEGRADED, RESTARTED);
  return verdict(EnvironmentStatus.LIVE, null);
}

const RESTARTED = 'It ended by itself and was started again';

function whyEnded(containers: AppLook['containers']): string | undefined {
  if (containers === null) return undefined;
  if (containers.length === 0) return 'Its container is gone from the server; deploy it again';
  const ended = containers.find(each => !each.isRunning && !hasEndedWell(each));
  if (ended === undefined) return undefined;
  const service = ended.labels[LABEL.service];
  const what = service === undefined ? 'It' : `The service ${service}`;
  if (ended.isOutOfMemory) return `${what} was ended because it ran out of memory`;
  const again = ended.isRestarting ? ', again and again' : '';
  return `${what} ended by itself, with exit code ${ended.exitCode}${again}`;
}

async function readContainers(host: Host, apps: readonly App[]): Promise<Map<App, ContainerState[]> | null> {
  let docker: DockerApi;
  try {
    docker = await openDocker(host);
  } catch (error) {
    if (error instanceof DeployFailure) return null;
    throw error;
  }
  try {
    return await inspectAll(docker, apps);
  } finally {
    docker.close();
  }
}

async function inspectAll(docker: DockerApi, apps: readonly App[]): Promise<Map<App, ContainerState[]>> {
  const listed = await docker.containers({ [LABEL.role]: 'app' });
  const names = Map.groupBy(listed, ({ labels }) => labels[LABEL.deployment]);
  const kept = Map.groupBy(await allKeptServices(docker), ({ labels }) => labels[LABEL.environment]);
  const found = new Map<App, ContainerState[]>();
  for (const app of apps) {
    const own = [...(names.get(app.deployment.id) ?? []), ...(kept.get(app.environment.id) ?? [])];
    const states = await Promise.all(own.map(({ name }) => docker.inspectContainer(name)));
    found.set(
      app,
      states.filter(state => state !== null),
    );
  }
  return found;
}

/** It, and then by the way that the world takes: a proxy that is dead is as bad. */
async function ask(host: Host, { environment, deployment: { hostPort } }: App): Promise<HealthAnswer | null> {
  if (hostPort === null) return null;
  const answer = await askHealth(() => host.dial(hostPort), environment.healthCheck);
  const { publicPort } = environment;
  if (publicPort === null || !isHealthy(answer)) return answer;
  return askHealth(() => host.dial(publicPort), environment.healthCheck);
}
