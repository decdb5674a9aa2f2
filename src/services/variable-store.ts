import type { EntityManager } from '@mikro-orm/postgresql';
import type { Deployment } from '../entities/deployment.ts';
import type { Environment } from '../entities/environment.ts';
import { Variable, type VariableScope } from '../entities/variable.ts';
import { Invalid } from '../errors.ts';
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

  /** The same for the compose file it was made of. */
  sealComposition(deploymentId: string, composition: string): Secret {
    return this.keyring.seal(composition, compositionPlace(deploymentId));
  }

  openComposition({ id, composition }: Pick<Deployment, 'id' | 'composition'>): string | null {
    return composition === null ? null : this.keyring.open(composition, compositionPlace(id));
  }

  open({ id, value }: Pick<Variable, 'id' | 'value'>): string {
    return this.keyring.open(value, valuePlace(id));
  }

  seal(id: string, value: string): Secret {
    return this.keyring.seal(value, valuePlace(id));
  }

  /**
   * Adds and overwrites by key; the others stay. What a wish leaves open stays as it was, and is a secret of the running application
   * where there was none. `field` is where the wishes came from. The environment was loaded with a lock, or is new.
   */
  async put(unit: UnitOfWork, environment: Environment, wishes: readonly VariableWish[], field: string): Promise<Put> {
    const present = await unit.em.find(Variable, { environmentId: environment.id });
    const byKey = new Map(present.map(variable => [variable.key, variable]));
    const sizes = new Map(present.map(variable => [variable.key, sizeOf(variable.key, this.open(variable))]));
    let hasChanged = false;
    for (const wish of wishes) {
      const before = byKey.get(wish.key);
      if (before === undefined) byKey.set(wish.key, this.#add(unit, environment, wish));
      const isOther = before === undefined || this.#change(before, wish, unit.origin.actor);
      hasChanged ||= isOther;
      sizes.set(wish.key, sizeOf(wish.key, wish.value));
    }
    refuseTooMany([...sizes.values()], field);
    return { variables: [...byKey.values()].sort((a, b) => (a.id < b.id ? 1 : -1)), hasChanged };
  }

  #add(unit: UnitOfWork, { id: environmentId, workspaceId, projectId }: Environment, wish: VariableWish): Variable {
    const { key, secret, scope } = wish;
    const variable = unit.em.create(Variable, {
      ...{ workspaceId, projectId, environmentId, key, updatedBy: unit.origin.actor },
      value: NOT_YET,
      secret: secret ?? true,
      ...(scope ? { scope } : {}),
    });
    variable.value = this.seal(variable.id, wish.value);
    return variable;
  }

  #change(variable: Variable, { value, secret, scope }: VariableWish, updatedBy: string | null): boolean {
    const isSame =
      this.open(variable) === value &&
      (secret ?? variable.secret) === variable.secret &&
      (scope ?? variable.scope) === variable.scope;
    if (isSame) return false;
    Object.assign(variable, { secret: secret ?? variable.secret, scope: scope ?? variable.scope, updatedBy });
    variable.value = this.seal(variable.id, value);
    variable.version += 1;
    return true;
  }
}

/** All variables of the environment, the newest first. */
interface Put {
  variables: Variable[];
  hasChanged: boolean;
}

/** What Linux takes in one string, with some room. */
export const LARGEST_VARIABLE = 131_000;

/** A program is started with all of them at once, and its machine sets a limit to that, too. */
const MOST_VARIABLES = 500;
const MOST_BYTES = 1_000_000;

/** As a program is given it: `KEY=value`. */
export const sizeOf = (key: string, value: string): number => Buffer.byteLength(`${key}=${value}`);

function refuseTooMany(sizes: readonly number[], field: string): void {
  const sum = sizes.reduce((total, size) => total + size, 0);
  if (sizes.length > MOST_VARIABLES)
    throw new Invalid({ field, message: `would make more than ${MOST_VARIABLES} variables of this environment` });
  if (sum > MOST_BYTES)
    throw new Invalid({ field, message: `would make the variables larger than ${MOST_BYTES} bytes together` });
}

/** A value is sealed to its row, whose id is made with the row. */
const NOT_YET = new Secret('');

const valuePlace = (row: string): Place => ({ table: 'variable', row, column: 'value' });

const releasePlace = (row: string): Place => ({ table: 'deployment', row, column: 'variables' });

const compositionPlace = (row: string): Place => ({ table: 'deployment', row, column: 'composition' });
