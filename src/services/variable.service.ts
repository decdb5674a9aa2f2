import type { Page, Row } from '../database/rows.ts';
import { describe } from '../entities/describe.ts';
import { Environment } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Variable } from '../entities/variable.ts';
import { Invalid, NotFound } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import { Secret } from '../security/secret.ts';
import { refuseDeletedEnvironment } from './deployment-queue.ts';
import { readDotenv } from './dotenv-text.ts';
import { requireDeploy } from './environment-settings.ts';
import type { Scope } from './scope.ts';
import { LARGEST_VARIABLE, sizeOf, type VariableStore, type VariableWish } from './variable-store.ts';

export interface VariablesWish {
  variables?: VariableWish[] | null;
  dotenv?: string | null;
  ifVersion?: number | null;
}

/** A variable as callers see it: the value is there unless it is a secret. */
export type ShownVariable = Omit<Row<Variable>, 'value'> & { value: string | null };

/** What an application is given to know, kept sealed. */
export class VariableService {
  constructor(private readonly store: VariableStore) {}

  async list(scope: Scope, id: string, page: Page): Promise<Row<Variable>[]> {
    await scope.row(Environment, id);
    return scope.list(Variable, { environmentId: id }, page);
  }

  /** Adds and overwrites by key; the others stay. Answers all of them. */
  async set(scope: Scope, id: string, wish: VariablesWish): Promise<ShownVariable[]> {
    return scope.transact(async unit => {
      const environment = await scope.load(unit, Environment, id, wish.ifVersion);
      refuseDeletedEnvironment(environment);
      const { wishes, field } = wishesOf(wish);
      const { variables, hasChanged } = await this.store.put(unit, environment, wishes, field);
      if (hasChanged) tell(unit, environment);
      return variables.map(variable => this.#show(variable));
    });
  }

  async delete(scope: Scope, id: string, key: string, ifVersion?: number | null): Promise<{ id: string }> {
    return scope.transact(async unit => {
      const environment = await scope.load(unit, Environment, id, ifVersion);
      refuseDeletedEnvironment(environment);
      const variable = await unit.em.findOne(Variable, { environmentId: id, key });
      if (variable === null) throw new NotFound('Variable');
      unit.em.remove(variable);
      tell(unit, environment);
      return { id: variable.id };
    });
  }

  /** What a row of a variable that is no secret holds. */
  open(id: string, sealed: string): string {
    return this.store.open({ id, value: new Secret(sealed) });
  }

  #show(variable: Variable): ShownVariable {
    const shown = describe(variable) as Omit<ShownVariable, 'value'>;
    return { ...shown, value: variable.secret ? null : this.store.open(variable) };
  }
}

function wishesOf({ variables, dotenv }: VariablesWish): { wishes: VariableWish[]; field: string } {
  if ((variables == null) === (dotenv == null))
    throw new Invalid({ field: 'variables', message: 'or "dotenv" must be given, one of the two' });
  if (variables != null) return { wishes: variables, field: 'variables' };
  return { wishes: readDotenv(dotenv ?? '').map(notTooLarge), field: 'dotenv' };
}

function notTooLarge({ key, value, line }: { key: string; value: string; line: number }): VariableWish {
  if (sizeOf(key, value) <= LARGEST_VARIABLE) return { key, value };
  const message = `line ${line} is larger than the ${LARGEST_VARIABLE} bytes that a program can be given in one variable`;
  throw new Invalid({ field: 'dotenv', message });
}

function tell(unit: UnitOfWork, environment: Environment): void {
  requireDeploy(environment);
  environment.version += 1;
  unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
}
