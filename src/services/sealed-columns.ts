import type { EntityManager } from '@mikro-orm/postgresql';
import { SecretType } from '../security/secret-type.ts';

export interface SealedColumn {
  table: string;
  column: string;
}

/** Where the secrets of workspaces lie. Found in the entities, so that a new column cannot be forgotten. */
export function sealedColumns(em: EntityManager): SealedColumn[] {
  const tables = [...em.getMetadata().getAll().values()].filter(({ properties }) => 'workspaceId' in properties);
  return tables.flatMap(({ props, tableName }) =>
    props
      .filter(({ customType }) => customType instanceof SecretType)
      .map(({ fieldNames }) => ({ table: tableName, column: fieldNames[0] as string })),
  );
}
