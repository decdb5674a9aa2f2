import type { Page, Row } from '../database/rows.ts';
import { AuditEntry } from '../entities/audit-entry.ts';
import type { Scope } from './scope.ts';

export interface AuditFilter {
  actor?: string | undefined;
  resource?: string | undefined;
}

export class AuditService {
  list(scope: Scope, { actor, resource }: AuditFilter, page: Page): Promise<Row<AuditEntry>[]> {
    return scope.list(AuditEntry, { actor, resource }, page);
  }

  get(scope: Scope, id: string): Promise<Row<AuditEntry>> {
    return scope.row(AuditEntry, id);
  }
}
