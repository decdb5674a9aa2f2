import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { Secret } from '../security/secret.ts';
import { SecretType } from '../security/secret-type.ts';

/** The one row about this installation. */
@Entity()
export class Instance {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  id: number = 1;

  /** A known value sealed with the master key: a start with another key is refused instead of spoiling data. */
  @Property({ type: SecretType, hidden: true })
  keyCheck!: Secret;

  /** Digest of the code that the very first account needs where registration is by invitation. */
  @Property({ type: 'text', nullable: true })
  setupCodeHash: string | null = null;
}
