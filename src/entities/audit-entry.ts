import { randomUUIDv7 } from 'node:crypto';
import { OptionalProps } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { clock } from '../clock.ts';
import { DateTime } from './date-time.ts';

export enum AuditOutcome {
  DONE = 'DONE',
  DENIED = 'DENIED',
}
registerEnumType(AuditOutcome, { name: 'AuditOutcome' });

@ObjectType({ description: 'Who did what, or was refused it. Entries are only ever added.', simpleResolvers: true })
@Entity()
export class AuditEntry {
  [OptionalProps]?: 'at' | 'outcome' | 'id';

  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = randomUUIDv7();

  @Property({ type: 'uuid', hidden: true })
  workspaceId!: string;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  at: Date = clock.now();

  @Field(() => ID, { nullable: true, description: 'The account; null for the service itself.' })
  @Property({ type: 'uuid', nullable: true })
  actor!: string | null;

  @Field(() => ID, { nullable: true, description: 'The API token it came by, if it did.' })
  @Property({ type: 'uuid', nullable: true })
  tokenId!: string | null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  ip!: string | null;

  @Field(() => String, { description: 'The name of the mutation, or of the query that was denied.' })
  @Property({ type: 'string' })
  action!: string;

  @Field(() => String, { nullable: true, description: 'Type and id of what was changed: "User:0199…".' })
  @Property({ type: 'string', nullable: true })
  resource!: string | null;

  @Field(() => AuditOutcome)
  @Enum({ items: () => AuditOutcome, type: 'string' })
  outcome: AuditOutcome = AuditOutcome.DONE;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  requestId!: string | null;
}
