import { Role } from '../entities/user.ts';
import { DomainError, Forbidden } from '../errors.ts';
import type { Scope } from './scope.ts';

export interface DeletionWish {
  deleteData?: boolean | null;
  confirm?: string | null;
  force?: boolean | null;
  ifVersion?: number | null;
}

/** What cannot be brought back is done only for an owner who names what they are about to lose. */
export function refuseUnconfirmed(scope: Scope, name: string, confirm: string | null | undefined, what: string): void {
  if (scope.viewer.role !== Role.OWNER) throw new Forbidden('Deleting data needs the role OWNER');
  if (confirm === name) return;
  throw new DomainError('CONFIRMATION_NEEDED', `${what}. Send "confirm": "${name}" if that is what you want`);
}

export function refuseLossOfData(scope: Scope, { deleteData, confirm }: DeletionWish, name: string): void {
  if (deleteData) refuseUnconfirmed(scope, name, confirm, 'Its volumes would be gone for good');
}
