import type { EntityClass } from '@mikro-orm/core';
import DataLoader from 'dataloader';
import type { Row } from '../database/rows.ts';
import { Analysis } from '../entities/analysis.ts';
import { Deployment } from '../entities/deployment.ts';
import { Environment } from '../entities/environment.ts';
import { GitProvider } from '../entities/git-provider.ts';
import { Project } from '../entities/project.ts';
import { Run } from '../entities/run.ts';
import { Server } from '../entities/server.ts';
import { User } from '../entities/user.ts';
import { Variable } from '../entities/variable.ts';
import type { Scope } from '../services/scope.ts';

type Owned = { id: string; workspaceId: string };

/** What an event can be about, by the name it is stored under. */
const RESOURCES: Readonly<Record<string, EntityClass<Owned>>> = { Deployment, Environment, Project, Run, Server };

/** Relations are followed by id, all of one level in one query, and only within the viewer's workspace. */
export class Loaders {
  readonly #loaders = new Map<EntityClass<Owned>, DataLoader<string, Row<Owned> | null>>();

  readonly #lists = new Map<string, DataLoader<string, Row<Owned>[]>>();

  readonly #values = new DataLoader<string, string | null>(ids => this.#readValues(ids));

  constructor(private readonly scope: Scope) {}

  user(id: string | null): Promise<Row<User> | null> {
    return this.#load(User, id);
  }

  analysis(id: string | null): Promise<Row<Analysis> | null> {
    return this.#load(Analysis, id);
  }

  deployment(id: string | null): Promise<Row<Deployment> | null> {
    return this.#load(Deployment, id);
  }

  environment(id: string | null): Promise<Row<Environment> | null> {
    return this.#load(Environment, id);
  }

  gitProvider(id: string | null): Promise<Row<GitProvider> | null> {
    return this.#load(GitProvider, id);
  }

  project(id: string | null): Promise<Row<Project> | null> {
    return this.#load(Project, id);
  }

  server(id: string | null): Promise<Row<Server> | null> {
    return this.#load(Server, id);
  }

  environmentsOf(projectId: string, limit: number): Promise<Row<Environment>[]> {
    return this.#newest(Environment, 'projectId', projectId, limit);
  }

  environmentsOn(serverId: string, limit: number): Promise<Row<Environment>[]> {
    return this.#newest(Environment, 'serverId', serverId, limit);
  }

  deploymentsOf(environmentId: string, limit: number): Promise<Row<Deployment>[]> {
    return this.#newest(Deployment, 'environmentId', environmentId, limit);
  }

  variablesOf(environmentId: string, limit: number): Promise<Row<Variable>[]> {
    return this.#newest(Variable, 'environmentId', environmentId, limit);
  }

  /** What a variable that is no secret holds, still sealed. */
  sealedValue(variableId: string): Promise<string | null> {
    return this.#values.load(variableId);
  }

  /** The newest rows of each of several parents, in one query. */
  async #newest<T extends Owned>(
    entity: EntityClass<T>,
    parent: keyof T & string,
    id: string,
    limit: number,
  ): Promise<Row<T>[]> {
    const key = `${entity.name} ${parent} ${limit}`;
    const known = this.#lists.get(key);
    const loader =
      known ?? new DataLoader<string, Row<Owned>[]>(ids => this.scope.listPerParent(entity, parent, ids, limit));
    if (!known) this.#lists.set(key, loader);
    return (await loader.load(id)) as Row<T>[];
  }

  async #readValues(ids: readonly string[]): Promise<(string | null)[]> {
    const text = 'select id, value from variable where id = any($1) and workspace_id = $2 and not secret';
    const found = await this.scope.rows.query<{ id: string; value: string }>(text, [
      ids,
      this.scope.viewer.workspaceId,
    ]);
    const byId = new Map(found.map(({ id, value }) => [id, value]));
    return ids.map(id => byId.get(id) ?? null);
  }

  /** Whatever a stored event speaks of, as it is now; the type's name tells unions apart. */
  async resource(typeName: string, id: string): Promise<object | null> {
    const entity = RESOURCES[typeName];
    const row = entity ? await this.#load(entity, id) : null;
    return row && { ...row, __typename: typeName };
  }

  async #load<T extends Owned>(entity: EntityClass<T>, id: string | null): Promise<Row<T> | null> {
    if (id === null) return null;
    const loader = this.#loaders.get(entity) ?? this.#make(entity);
    return (await loader.load(id)) as Row<T> | null;
  }

  #make(entity: EntityClass<Owned>): DataLoader<string, Row<Owned> | null> {
    const loader = new DataLoader<string, Row<Owned> | null>(async ids => {
      const found = await this.scope.byIds(entity, ids);
      const byId = new Map(found.map(row => [row.id, row]));
      return ids.map(id => byId.get(id) ?? null);
    });
    this.#loaders.set(entity, loader);
    return loader;
  }
}
