import type { EntityManager } from '@mikro-orm/postgresql';
import { ConfigFault } from '../config.ts';
import { Instance } from '../entities/instance.ts';
import { Role, User } from '../entities/user.ts';
import { Workspace } from '../entities/workspace.ts';
import { transact, workOrigin } from '../events/unit-of-work.ts';
import { type Keyring, SealBroken } from '../security/keyring.ts';
import { hashPassword, passwordFault } from '../security/password.ts';
import { makeRandomToken } from '../security/token.ts';
import { lockFirstAccount, normalizeEmail, verifyEmail } from './account.service.ts';
import { type SealedColumn, sealedColumns } from './sealed-columns.ts';

const CHECK_PLACE = { table: 'instance', row: '1', column: 'key_check' };
const CHECK_TEXT = 'slipway';

interface Bootstrap {
  bootstrapEmail: string | undefined;
  bootstrapPassword: string | undefined;
}

/** What is done once for an installation, at its first start. */
export class InstanceService {
  constructor(
    private readonly em: EntityManager,
    private readonly keyring: Keyring,
  ) {}

  /** Refuses to start with a key that does not open what is stored; nothing is written then. */
  async checkKey(): Promise<void> {
    const em = this.em.fork();
    const instance = await em.findOne(Instance, 1);
    if (instance === null) {
      const keyCheck = this.keyring.seal(CHECK_TEXT, CHECK_PLACE);
      await em.upsert(Instance, { id: 1, keyCheck, setupCodeHash: null }, { onConflictAction: 'ignore' });
      return;
    }
    this.keyring.open(instance.keyCheck, CHECK_PLACE);
    for (const column of sealedColumns(em)) await this.#refuseUnknownKeys(em, column);
    if (this.keyring.isCurrent(instance.keyCheck)) return;
    instance.keyCheck = this.keyring.reseal(instance.keyCheck, CHECK_PLACE);
    await em.flush();
  }

  /** A previous key that was taken away too early: what is still sealed with it would fail one by one, later. */
  async #refuseUnknownKeys(em: EntityManager, { table, column }: SealedColumn): Promise<void> {
    const text = `select distinct split_part(${column}, '.', 2) as id from ${table} where ${column} is not null`;
    for (const { id } of await em.execute<{ id: string }[]>(text)) {
      if (!this.keyring.knows(id)) throw new SealBroken({ table, row: '', column });
    }
  }

  /** Where registration is by invitation, the first account needs a code that only the operator sees. A new one at each start until then. */
  async makeSetupCode(): Promise<string | undefined> {
    const em = this.em.fork();
    if ((await em.count(User, { emailVerified: true })) > 0) return undefined;
    const code = makeRandomToken().slice(0, 12);
    await em.nativeUpdate(Instance, { id: 1 }, { setupCodeHash: this.keyring.digest('setup code', code) });
    return code;
  }

  async bootstrap({ bootstrapEmail, bootstrapPassword }: Bootstrap): Promise<void> {
    if (bootstrapEmail === undefined || bootstrapPassword === undefined) return;
    const email = normalizeEmail(bootstrapEmail);
    if ((await this.em.fork().count(User, { emailVerified: true })) > 0) return;
    const fault = await passwordFault(bootstrapPassword);
    if (fault !== undefined) throw new ConfigFault([`BOOTSTRAP_PASSWORD: ${fault}`]);
    const passwordHash = await hashPassword(bootstrapPassword);
    await transact(this.em, workOrigin('bootstrap'), async unit => {
      await lockFirstAccount(unit);
      if ((await unit.em.count(User, { emailVerified: true })) > 0) return;
      await unit.em.nativeDelete(User, { email, emailVerified: false });
      const workspace = unit.em.create(Workspace, { name: 'Slipway' });
      const user = unit.em.create(User, { workspaceId: workspace.id, email, passwordHash, role: Role.OWNER });
      await verifyEmail(unit, user);
      unit.note(user, user.id);
    });
  }
}
