import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Owned } from './base.ts';
import { DateTime } from './date-time.ts';

export enum Role {
  OWNER = 'OWNER',
  MEMBER = 'MEMBER',
  VIEWER = 'VIEWER',
}
registerEnumType(Role, {
  name: 'Role',
  description: 'What an account may do in its workspace.',
  valuesConfig: {
    OWNER: { description: 'Everything.' },
    MEMBER: { description: "Everything but members, servers' credentials, restores and deletions of data." },
    VIEWER: { description: 'Reads.' },
  },
});

type Optional = 'invitationId' | 'name' | 'instanceAdmin' | 'emailVerified' | 'twoFactorEnabled' | 'lastLoginAt';

@ObjectType({ description: 'An account, as its owner and the members of its workspace see it.', simpleResolvers: true })
@Entity({ tableName: 'users' })
export class User extends Owned<Optional> {
  @Field(() => String)
  @Property({ type: 'string', unique: true })
  email!: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  name: string | null = null;

  @Field(() => ID)
  declare workspaceId: string;

  @Field(() => Role)
  @Enum({ items: () => Role, type: 'string' })
  role!: Role;

  @Field(() => Boolean, { description: 'May see to the whole instance: the first verified account.' })
  @Property({ type: 'boolean' })
  instanceAdmin: boolean = false;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  emailVerified: boolean = false;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  twoFactorEnabled: boolean = false;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastLoginAt: Date | null = null;

  @Property({ type: 'text', hidden: true })
  passwordHash!: string;

  /** The invitation an account came by, until its address is verified and the invitation is used up. */
  @Property({ type: 'uuid', nullable: true, hidden: true })
  invitationId: string | null = null;
}
