import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Owned } from './base.ts';

@Entity()
export class PasswordReset extends Owned<'usedAt'> {
  @Property({ type: 'uuid' })
  userId!: string;

  @Property({ type: 'text', unique: true, hidden: true })
  tokenHash!: string;

  @Property({ type: 'datetime', length: 3 })
  expiresAt!: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  usedAt: Date | null = null;
}
