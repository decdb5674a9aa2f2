import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Owned } from './base.ts';
import { DateTime } from './date-time.ts';

export enum TokenScope {
  read = 'read',
  deploy = 'deploy',
  write = 'write',
}
registerEnumType(TokenScope, {
  name: 'TokenScope',
  description: 'What a token may do; each holds what the ones before it hold.',
  valuesConfig: {
    read: { description: 'Reads.' },
    deploy: { description: 'Reads, deploys, cancels, rolls back.' },
    write: { description: "Whatever the account's role may do." },
  },
});

type Optional = 'lastUsedAt' | 'expiresAt' | 'projectId' | 'environmentId';

@ObjectType({
  description: 'A credential for scripts. The token itself is shown once, when it is made.',
  simpleResolvers: true,
})
@Entity()
export class ApiToken extends Owned<Optional> {
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => String)
  @Property({ type: 'string' })
  name!: string;

  @Field(() => TokenScope)
  @Enum({ items: () => TokenScope, type: 'string' })
  scope!: TokenScope;

  @Field(() => String, { description: 'The first characters of the token, to tell one from another.' })
  @Property({ type: 'string' })
  prefix!: string;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastUsedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  expiresAt: Date | null = null;

  @Field(() => ID, { nullable: true, description: 'The one project it is good for.' })
  @Property({ type: 'uuid', nullable: true })
  projectId: string | null = null;

  @Field(() => ID, { nullable: true, description: 'The one environment it is good for.' })
  @Property({ type: 'uuid', nullable: true })
  environmentId: string | null = null;

  @Property({ type: 'text', unique: true, hidden: true })
  tokenHash!: string;
}
