import { randomUUIDv7 } from 'node:crypto';
import { OptionalProps } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { clock } from '../clock.ts';
import { DateTime } from './date-time.ts';
import { JsonObject } from './json.ts';

export enum EventKind {
  project_updated = 'project_updated',
  environment_updated = 'environment_updated',
  deployment_updated = 'deployment_updated',
  server_updated = 'server_updated',
  domain_updated = 'domain_updated',
  backup_updated = 'backup_updated',
  connector_updated = 'connector_updated',
  run_updated = 'run_updated',
}
registerEnumType(EventKind, { name: 'EventKind' });

export enum EventAction {
  CREATED = 'CREATED',
  UPDATED = 'UPDATED',
  DELETED = 'DELETED',
}
registerEnumType(EventAction, { name: 'EventAction' });

/** A fact. `seq` is given in the order of commit and never leaves the service; `id` is the cursor callers see. */
@ObjectType('Event', { description: 'Something that happened to a resource.', simpleResolvers: true })
@Entity({ tableName: 'event' })
export class StoredEvent {
  [OptionalProps]?: 'seq' | 'id' | 'at';

  @PrimaryKey({ type: 'bigint', autoincrement: false })
  seq!: string;

  @Field(() => ID, { description: 'Give it as `after` or `Last-Event-ID` to resume behind this event.' })
  @Property({ type: 'uuid', unique: true })
  id: string = randomUUIDv7();

  @Property({ type: 'uuid' })
  workspaceId!: string;

  @Field(() => EventKind)
  @Enum({ items: () => EventKind, type: 'string' })
  kind!: EventKind;

  @Field(() => EventAction)
  @Enum({ items: () => EventAction, type: 'string' })
  action!: EventAction;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  at: Date = clock.now();

  @Field(() => ID, { nullable: true, description: 'The account that caused it; null for the service itself.' })
  @Property({ type: 'uuid', nullable: true })
  actor!: string | null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  projectId!: string | null;

  @Field(() => String)
  @Property({ type: 'string' })
  resourceType!: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  resourceId!: string;

  @Field(() => JsonObject, { description: "The resource's own fields at that moment, named as in its GET answer." })
  @Property({ type: 'json' })
  data!: Record<string, unknown>;
}
