import type { DeploymentPhase } from '../../entities/deployment.ts';
import type { DockerApi } from '../../integrations/docker/docker-api.ts';
import type { Host } from '../../remote/host.ts';
import type { ServerProxy } from './proxy.ts';

/** A server that is open for work. */
export interface Machine {
  host: Host;
  docker: DockerApi;
  proxy: ServerProxy;
  /** What makes a program root there. */
  prefix: readonly string[];
}

/**
 * One part of a deployment. Whoever takes a deployment up, after a crash or a cut, goes through all its steps again: each one looks
 * at the server first, and does only what has not happened yet.
 */
export interface DeployStep {
  readonly phase: DeploymentPhase;
  hasHappened(machine: Machine): Promise<boolean>;
  run(machine: Machine): Promise<void>;
  /** Leaves nothing of it. Also said of a step that was never taken, or taken half. */
  undo(machine: Machine): Promise<void>;
}

/** Somebody wants the deployment to end. */
export class DeployCancelled extends Error {
  constructor() {
    super('The deployment was cancelled');
  }
}
