import type { EntityManager } from '@mikro-orm/postgresql';
import type { Step } from '../engine/run.engine.ts';
import { Run, RunKind, RunStatus } from '../entities/run.ts';
import { Workspace } from '../entities/workspace.ts';
import { transact, workOrigin } from '../events/unit-of-work.ts';
import type { Queue } from '../jobs/queue.ts';
import type { Keyring } from '../security/keyring.ts';
import { Secret } from '../security/secret.ts';
import { mailPlace } from './mail.service.ts';
import type { RunService } from './run.service.ts';
import { type SealedColumn, sealedColumns } from './sealed-columns.ts';

/** Some are a megabyte each. */
const BATCH = 25;

/** After a change of the master key, every stored secret is sealed anew, as a run of each workspace. */
export class ResealService {
  constructor(
    private readonly em: EntityManager,
    private readonly keyring: Keyring,
    private readonly runs: RunService,
    private readonly queue: Queue,
  ) {}

  /** At a start that knows previous keys: a run for each workspace that still has something sealed with one of them. */
  async schedule(): Promise<void> {
    await this.#resealMails();
    for (const { id: workspaceId } of await this.em.fork().find(Workspace, {})) {
      if (await this.#hasWork(workspaceId)) await this.#start(workspaceId);
    }
  }

  steps(run: Run): Step[] {
    return sealedColumns(this.em).map(({ table, column }) => ({
      name: `${table}.${column}`,
      run: async signal => `${await this.#resealColumn({ table, column }, run.workspaceId, signal)} sealed anew`,
    }));
  }

  async #start(workspaceId: string): Promise<void> {
    await transact(this.em, workOrigin('reseal', workspaceId), async unit => {
      const open = { workspaceId, kind: RunKind.RESEAL, status: [RunStatus.QUEUED, RunStatus.RUNNING] };
      if ((await unit.em.count(Run, open)) > 0) return;
      const run = this.runs.start(unit, RunKind.RESEAL, workspaceId, null);
      await this.queue.enqueue(unit, 'secrets.reseal', { runId: run.id }, { lane: workspaceId });
    });
  }

  /** Mails that wait for their server lie sealed in the queue. */
  async #resealMails(): Promise<void> {
    await this.queue.rewrite('mail.send', ({ id, sealed }) => {
      const secret = new Secret(sealed);
      if (this.keyring.isCurrent(secret)) return undefined;
      return { id, sealed: this.keyring.reseal(secret, mailPlace(id)).sealed };
    });
  }

  async #hasWork(workspaceId: string): Promise<boolean> {
    for (const column of sealedColumns(this.em))
      if ((await this.#stale(column, workspaceId, 1)).length > 0) return true;
    return false;
  }

  async #resealColumn({ table, column }: SealedColumn, workspaceId: string, signal: AbortSignal): Promise<number> {
    let count = 0;
    for (;;) {
      signal.throwIfAborted();
      const rows = await this.#stale({ table, column }, workspaceId, BATCH);
      for (const { id, sealed } of rows) {
        const fresh = this.keyring.reseal(new Secret(sealed), { table, row: id, column });
        // Only if nobody wrote a newer secret meanwhile, which is sealed with the current key anyway.
        await this.em
          .fork()
          .execute(`update ${table} set ${column} = ? where id = ? and ${column} = ?`, [fresh.sealed, id, sealed]);
      }
      count += rows.length;
      if (rows.length < BATCH) return count;
    }
  }

  #stale(
    { table, column }: SealedColumn,
    workspaceId: string,
    limit: number,
  ): Promise<{ id: string; sealed: string }[]> {
    const text = `select id, ${column} as sealed from ${table} where workspace_id = ? and ${column} not like ? limit ?`;
    return this.em.fork().execute(text, [workspaceId, `v1.${this.keyring.keyId}.%`, limit]);
  }
}
