import type { EntityClass } from '@mikro-orm/core';
import DataLoader from 'dataloader';
import type { Row } from '../database/rows.ts';
import { Run } from '../entities/run.ts';
import { User } from '../entities/user.ts';
import type { Scope } from '../services/scope.ts';

type Owned = { id: string; workspaceId: string };

/** Relations are followed by id, all of one level in one query, and only within the viewer's workspace. */
export class Loaders {
  readonly #loaders = new Map<EntityClass<Owned>, DataLoader<string, Row<Owned> | null>>();

  constructor(private readonly scope: Scope) {}

  user(id: string | null): Promise<Row<User> | null> {
    return this.#load(User, id);
  }

  run(id: string | null): Promise<Row<Run> | null> {
    return this.#load(Run, id);
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
