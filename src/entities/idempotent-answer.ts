import { OptionalProps } from '@mikro-orm/core';
import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { clock } from '../clock.ts';
import type { Secret } from '../security/secret.ts';
import { SecretType } from '../security/secret-type.ts';

/** What was answered to a request that carried an Idempotency-Key; written in the transaction of its work. */
@Entity()
export class IdempotentAnswer {
  [OptionalProps]?: 'createdAt';

  /** A digest of account, route and key: the key itself is not kept. */
  @PrimaryKey({ type: 'text' })
  id!: string;

  @Property({ type: 'uuid' })
  workspaceId!: string;

  @Property({ type: 'text' })
  bodyHash!: string;

  @Property({ type: SecretType, hidden: true })
  answer!: Secret;

  @Property({ type: 'datetime', length: 3 })
  createdAt: Date = clock.now();
}
