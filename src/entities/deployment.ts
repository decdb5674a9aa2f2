import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { Commit } from './analysis.ts';
import { Owned } from './base.ts';
import { DateTime } from './date-time.ts';

export enum DeploymentStatus {
  QUEUED = 'QUEUED',
  RUNNING = 'RUNNING',
  LIVE = 'LIVE',
  SUPERSEDED = 'SUPERSEDED',
  SKIPPED = 'SKIPPED',
  FAILED = 'FAILED',
  CANCELLING = 'CANCELLING',
  CANCELLED = 'CANCELLED',
}
registerEnumType(DeploymentStatus, { name: 'DeploymentStatus' });

export enum DeploymentTrigger {
  MANUAL = 'MANUAL',
  FINALIZE = 'FINALIZE',
  PUSH = 'PUSH',
  ROLLBACK = 'ROLLBACK',
  MOVE = 'MOVE',
}
registerEnumType(DeploymentTrigger, { name: 'DeploymentTrigger' });

type Optional = 'status' | 'actor' | 'commit' | 'branch' | 'startedAt' | 'finishedAt';

/** One attempt. It is queued here; the engine that carries it out adds what it needs. */
@ObjectType({ description: 'One attempt to put a commit live.', simpleResolvers: true })
@Entity()
export class Deployment extends Owned<Optional> {
  @Field(() => ID)
  @Property({ type: 'uuid' })
  projectId!: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  environmentId!: string;

  @Field(() => Int, { description: 'Counts the deployments of its environment.' })
  @Property({ type: 'integer' })
  number!: number;

  @Field(() => DeploymentStatus)
  @Enum({ items: () => DeploymentStatus, type: 'string' })
  status: DeploymentStatus = DeploymentStatus.QUEUED;

  @Field(() => DeploymentTrigger)
  @Enum({ items: () => DeploymentTrigger, type: 'string' })
  trigger!: DeploymentTrigger;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  actor: string | null = null;

  @Field(() => Commit, { nullable: true })
  @Property({ type: 'json', nullable: true })
  commit: Commit | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  branch: string | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  startedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;
}
