import type { EntityManager } from '@mikro-orm/postgresql';
import type { Deployment } from '../entities/deployment.ts';
import type { Environment } from '../entities/environment.ts';
import { Variable, type VariableScope } from '../entities/variable.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Keyring, Place } from '../security/keyring.ts';
import { Secret } from '../security/secret.ts';

export interface VariableWish {
  key: string;
  value: string;
  secret?: boolean | null;
  scope?: VariableScope | null;
}

/** A variable as a release is given it. */
export interface PlanVariable {
  key: string;
  value: string;
  isSecret: boolean;
  scope: VariableScope;
}

/** Where the values of variables are sealed and opened, and nowhere else. */
export class VariableStore {
  constructor(
    private readonly em: EntityManager,
    private readonly keyring: Keyring,
  ) {}

  /** What a deployment that begins now is given. */
  async read(environmentId: string): Promise<PlanVariable[]> {
    const variables = await this.em.fork().find(Variable, { environmentId }, { orderBy: { key: 'asc' } });
    return variables.map(variable => ({
      key: variable.key,
      value: this.open(variable),
      isSecret: variable.secret,
      scope: variable.scope,
    }));
  }

  /** Keeps with a release what it was started with, so that a rollback brings it back. */
  sealRelease(deploymentId: string, variables: readonly PlanVariable[]): Secret {
    return this.keyring.seal(JSON.stringify(variables), releasePlace(deploymentId));
  }

  openRelease({ id, variables }: Pick<Deployment, 'id' | 'variables'>): PlanVariable[] {
    return variables === null ? [] : (JSON.parse(this.keyring.open(variables, releasePlace(id))) as PlanVariable[]);
  }

  open({ id, value }: Pick<Variable, 'id' | 'value'>): string {
    return this.keyring.open(value, valuePlace(id));
  }

  seal(id: string, value: string): Secret {
    return this.keyring.seal(value, valuePlace(id));
  }

  /** A secret unless told otherwise. */
  add(unit: UnitOfWork, environment: Environment, wish: VariableWish, updatedBy: string | null): Variable {
    const { id: environmentId, workspaceId, projectId } = environment;
    const { key, secret, scope } = wish;
    const variable = unit.em.create(Variable, {
      ...{ workspaceId, projectId, environmentId, key, updatedBy },
      value: NOT_YET,
      secret: secret ?? true,
      ...(scope ? { scope } : {}),
    });
    variable.value = this.seal(variable.id, wish.value);
    return variable;
  }
}

/** A value is sealed to its row, whose id is made with the row. */
const NOT_YET = new Secret('');

const valuePlace = (row: string): Place => ({ table: 'variable', row, column: 'value' });

const releasePlace = (row: string): Place => ({ table: 'deployment', row, column: 'variables' });
