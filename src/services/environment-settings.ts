import { BuildSettings } from '../entities/build.ts';
import { type Environment, HealthCheck, Resources } from '../entities/environment.ts';
import { definedOf } from './project.service.ts';

type Clearing<T> = { [Name in keyof T]?: T[Name] | null };

/** What is absent stays; what is null goes back to what it was before anybody set it. */
export interface EnvironmentSettings {
  name?: string;
  branch?: string | null;
  autoDeploy?: boolean;
  build?: Partial<BuildSettings> | null;
  healthCheck?: Clearing<HealthCheck> | null;
  resources?: Partial<Resources> | null;
  preDeployCommand?: string | null;
  keepReleases?: number;
}

export function applySettings(environment: Environment, change: EnvironmentSettings): void {
  const { build, healthCheck, resources, ...plain } = change;
  Object.assign(environment, definedOf(plain));
  environment.build = merged(new BuildSettings(), environment.build, build);
  environment.healthCheck = merged(new HealthCheck(), environment.healthCheck, healthCheck);
  environment.resources = merged(new Resources(), environment.resources, resources);
}

/** Something was changed that takes effect with the next deployment. */
export function requireDeploy(environment: Environment): void {
  environment.needsDeploy = true;
  environment.changeCount += 1;
}

/** All that takes effect with the next deployment, said alike however it was stored. */
export function whatIsDeployed(environment: Environment): string {
  const { branch, preDeployCommand, services } = environment;
  return JSON.stringify([
    branch,
    preDeployCommand,
    merged(new BuildSettings(), environment.build, {}),
    merged(new HealthCheck(), environment.healthCheck, {}),
    merged(new Resources(), environment.resources, {}),
    services.map(({ name, kind, version }) => [name, kind, version]),
  ]);
}

/** Always with the same names in the same order, so that two can be compared. */
function merged<T extends object>(usual: T, before: T, change: Clearing<T> | null | undefined): T {
  if (change === null) return { ...usual };
  const names = Object.keys(usual) as (keyof T)[];
  const values = names.map(name => {
    const value = change?.[name];
    return [name, value === undefined ? before[name] : (value ?? usual[name])];
  });
  return Object.fromEntries(values) as T;
}
