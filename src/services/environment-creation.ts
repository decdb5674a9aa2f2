import { Environment } from '../entities/environment.ts';
import type { Project } from '../entities/project.ts';
import { Server } from '../entities/server.ts';
import { DomainError } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Scope } from './scope.ts';
import { freeSlug } from './slug.ts';

export interface EnvironmentSketch {
  name: string;
  branch?: string | null;
  serverId?: string | null;
  autoDeploy?: boolean | null;
}

export async function addEnvironment(
  scope: Scope,
  unit: UnitOfWork,
  { id: projectId, workspaceId }: Project,
  { name, branch, serverId, autoDeploy }: EnvironmentSketch,
): Promise<Environment> {
  const others = await refuseTakenName(unit, { id: null, projectId }, name);
  // Held until the environment is on it: it cannot be deleted meanwhile.
  if (serverId != null) await scope.load(unit, Server, serverId);
  return unit.em.create(Environment, {
    ...{ workspaceId, projectId, name },
    slug: freeSlug(name, new Set(others.map(({ slug }) => slug))),
    branch: branch ?? null,
    serverId: serverId ?? null,
    autoDeploy: autoDeploy ?? false,
  });
}

/** In one project people tell environments apart by their names. Two who want the same at once come one after the other. Answers the others. */
export async function refuseTakenName(
  unit: UnitOfWork,
  { id, projectId }: { id: string | null; projectId: string },
  name: string,
): Promise<Pick<Environment, 'name' | 'slug'>[]> {
  await unit.em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`environments ${projectId}`]);
  const all = await unit.em.find(Environment, { projectId }, { fields: ['id', 'name', 'slug'] });
  const others = all.filter(other => other.id !== id);
  if (others.some(other => fold(other.name) === fold(name)))
    throw new DomainError('NAME_TAKEN', 'Another environment of this project has this name');
  return others;
}

const fold = (name: string): string => name.normalize('NFKC').trim().toLowerCase();
