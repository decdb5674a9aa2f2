import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType } from 'type-graphql';
import { Owned } from './base.ts';
import { DateTime } from './date-time.ts';
import { Role } from './user.ts';

@ObjectType({ description: 'An open invitation to the workspace, bound to one e-mail address.', simpleResolvers: true })
@Entity()
export class Invitation extends Owned<'usedAt'> {
  @Field(() => String)
  @Property({ type: 'string' })
  email!: string;

  @Field(() => Role)
  @Enum({ items: () => Role, type: 'string' })
  role!: Role;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  invitedById!: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  expiresAt!: Date;

  @Property({ type: 'text', unique: true, hidden: true })
  tokenHash!: string;

  @Property({ type: 'datetime', length: 3, nullable: true })
  usedAt: Date | null = null;
}
