import { type EntityClass, LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Conditions, Page, Row, Rows } from '../database/rows.ts';
import type { TokenScope } from '../entities/api-token.ts';
import type { Role } from '../entities/user.ts';
import { DomainError, NotFound, Unauthenticated } from '../errors.ts';
import { noteDenial, type Origin, transact, UnitOfWork } from '../events/unit-of-work.ts';

/** Who asks, as their credential proves it. */
export interface Viewer {
  userId: string;
  workspaceId: string;
  role: Role;
  instanceAdmin: boolean;
  /** One of the two: a session of a person, or a token of a script with its own narrower scope. */
  sessionId: string | null;
  tokenId: string | null;
  tokenScope: TokenScope | null;
  /** A token may be bound to one project, and further to one environment of it. */
  projectId: string | null;
  environmentId: string | null;
  expiresAt: number | null;
}

/** What is known of the request itself, whichever door it came by. */
export interface RequestFacts {
  requestId: string;
  ip: string;
  /** The address as limits count it: an IPv6 one by its /56. */
  addressKey: string;
  userAgent: string | null;
  idempotencyKey: string | null;
  /** For answers that take their time: calls when nobody waits for this one any more. Returns what takes that back. */
  onLeave(tell: () => void): () => void;
}

/** What a door should say beside the data, in headers. */
export interface AnswerNotes {
  /** A kept answer was given again. */
  isReplayed?: boolean;
  /** The list that was read has more behind its last item. */
  hasMore?: boolean;
  /** Parts that failed while the rest succeeded. */
  warnings?: string[];
  /** Another status than the route's usual one. */
  status?: 200 | 201;
  /** Where the next page begins, for lists whose cursor is not an id. */
  nextCursor?: string;
  /** Something was used that will be gone. */
  deprecation?: Deprecation | undefined;
}

export interface Deprecation {
  since: Date;
  until: Date;
}

type Owned = { id: string; workspaceId: string };

/** Viewer, workspace and unit of work: the first argument of every service. Nothing is found but through it. */
export class Scope {
  #unit: UnitOfWork | undefined;

  constructor(
    private readonly root: EntityManager,
    readonly rows: Rows,
    private readonly maybeViewer: Viewer | undefined,
    readonly request: RequestFacts,
    private readonly settle: () => Promise<void>,
    private readonly action = 'read',
    readonly notes: AnswerNotes = {},
  ) {}

  get viewer(): Viewer {
    if (this.maybeViewer === undefined) throw new Unauthenticated();
    return this.maybeViewer;
  }

  get isAnonymous(): boolean {
    return this.maybeViewer === undefined;
  }

  /** The same viewer about to do something that has a name. */
  during(action: string): Scope {
    return new Scope(this.root, this.rows, this.maybeViewer, this.request, this.settle, action, this.notes);
  }

  /** One transaction for the change and all that is told of it. Inside another one of this scope it joins that. */
  async transact<Result>(work: (unit: UnitOfWork) => Promise<Result>): Promise<Result> {
    if (this.#unit) return work(this.#unit);
    let revokes = false;
    const result = await transact(this.root, this.#origin(), async unit => {
      this.#unit = unit;
      try {
        return await work(unit);
      } finally {
        this.#unit = undefined;
        revokes = unit.revokes;
      }
    });
    if (revokes) await this.settle();
    return result;
  }

  /** A transaction inside the open one: work that fails takes back what it did, and no more. */
  async nested<Result>(work: () => Promise<Result>): Promise<Result> {
    const outer = this.#unit;
    if (outer === undefined) throw new TypeError('nested work needs an open transaction');
    return outer.em.transactional(async em => {
      const unit = new UnitOfWork(em, outer.origin);
      this.#unit = unit;
      try {
        const result = await work();
        await unit.complete();
        if (unit.revokes) outer.revoke();
        return result;
      } finally {
        this.#unit = outer;
      }
    });
  }

  async noteDenial(resource: string | null = null): Promise<void> {
    await noteDenial(this.root, this.#origin(), resource);
  }

  /** For what happens before there is a viewer, such as signing in. */
  fork(): EntityManager {
    return this.#unit?.em ?? this.root.fork();
  }

  /** A page of the viewer's own. One row more is read than was asked for, to know whether there is a next page. */
  async list<T extends Owned>(entity: EntityClass<T>, where: Conditions<T>, { limit, after }: Page): Promise<Row<T>[]> {
    const conditions = { ...where, ...this.#own(entity) };
    const rows = await this.rows.list(entity, conditions, { limit: limit + 1, after });
    this.notes.hasMore = rows.length > limit;
    if (this.notes.hasMore) rows.length = limit;
    return rows;
  }

  /** Rows of the viewer's own by their ids, for relations. */
  byIds<T extends Owned>(entity: EntityClass<T>, ids: readonly string[]): Promise<Row<T>[]> {
    return this.rows.list(entity, { id: ids, ...this.#own(entity, ids) } as Conditions<T>, { limit: ids.length });
  }

  /** The newest rows of each parent, for lists inside lists. */
  async listPerParent<T extends Owned>(
    entity: EntityClass<T>,
    parent: keyof T & string,
    parentIds: readonly string[],
    limit: number,
  ): Promise<Row<T>[][]> {
    const rows = await this.rows.listPerParent(entity, parent, parentIds, this.viewer.workspaceId, limit);
    const bounds = Object.entries(this.#own(entity)) as [keyof T & string, unknown][];
    const own = rows.filter(row => bounds.every(([name, value]) => row[name] === value));
    const byParent = Map.groupBy(own, row => row[parent] as string);
    return parentIds.map(id => byParent.get(id) ?? []);
  }

  async row<T extends Owned>(entity: EntityClass<T>, id: string): Promise<Row<T>> {
    const row = await this.rows.one(entity, { id, ...this.#own(entity, [id]) } as Conditions<T>);
    if (row === undefined) throw new NotFound(entity.name);
    return row;
  }

  /** Loads for a change. A foreign id is the same "not found" as an unknown one; a stale `ifVersion` is refused. */
  async load<T extends Owned & { version: number }>(
    unit: UnitOfWork,
    entity: EntityClass<T>,
    id: string,
    ifVersion?: number | null,
  ): Promise<T> {
    const where = { id, ...this.#own(entity, [id]) };
    const found = await unit.em.findOne(entity, where as never, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (found === null) throw new NotFound(entity.name);
    checkVersion(found as T, ifVersion);
    return found as T;
  }

  /**
   * What makes a row the viewer's own: its workspace, and for a bound token its project and environment. Where the binding is by
   * the row's own id, an id that is asked for and is another one is nobody's.
   */
  #own<T extends Owned>(entity: EntityClass<T>, ids?: readonly string[]): Conditions<T> {
    const { workspaceId, projectId, environmentId } = this.viewer;
    const bounds: Record<string, string> = { workspaceId };
    if (projectId !== null && this.rows.hasColumn(entity, 'projectId')) bounds.projectId = projectId;
    if (environmentId !== null && this.rows.hasColumn(entity, 'environmentId')) bounds.environmentId = environmentId;
    const boundId = entity.name === 'Project' ? projectId : entity.name === 'Environment' ? environmentId : null;
    if (boundId !== null) {
      if (ids?.some(id => id !== boundId)) throw new NotFound(entity.name);
      bounds.id = boundId;
    }
    return bounds as Conditions<T>;
  }

  #origin(): Origin {
    const { userId, workspaceId, tokenId } = this.maybeViewer ?? {};
    return {
      workspaceId: workspaceId ?? null,
      actor: userId ?? null,
      tokenId: tokenId ?? null,
      ip: this.request.ip,
      requestId: this.request.requestId,
      action: this.action,
    };
  }
}

export function checkVersion(resource: { version: number }, ifVersion: number | null | undefined): void {
  if (ifVersion == null || ifVersion === resource.version) return;
  throw new DomainError('VERSION_MISMATCH', 'It was changed since you read it; read it again and retry');
}
