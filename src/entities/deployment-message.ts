import { OptionalProps, PrimaryKeyProp } from '@mikro-orm/core';
import { Entity, Enum, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { clock } from '../clock.ts';
import { DateTime } from './date-time.ts';
import { DeploymentPhase, DeploymentStatus } from './deployment.ts';
import { WholeNumber } from './whole-number.ts';

export enum DeploymentMessageKind {
  STATUS = 'STATUS',
  LOG = 'LOG',
}
registerEnumType(DeploymentMessageKind, { name: 'DeploymentMessageKind' });

export enum LogStream {
  STDOUT = 'STDOUT',
  STDERR = 'STDERR',
}
registerEnumType(LogStream, {
  name: 'LogStream',
  valuesConfig: {
    STDOUT: { description: 'Said by a program.' },
    STDERR: { description: 'Said by a program, as a complaint.' },
  },
});

type Optional = 'at' | 'kind' | 'stream' | 'isFinished';

/** One line of a deployment's story: a change of its state, or a line of its log. */
@ObjectType({ description: 'A change of state of a deployment, or a line of its log.', simpleResolvers: true })
@Entity()
export class DeploymentMessage {
  [PrimaryKeyProp]?: ['deploymentId', 'seq'];
  [OptionalProps]?: Optional;

  @PrimaryKey({ type: 'uuid' })
  deploymentId!: string;

  @Field(() => WholeNumber, { description: 'Counts the messages of its deployment; the cursor to resume behind.' })
  @PrimaryKey({ type: 'integer' })
  seq!: number;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  at: Date = clock.now();

  @Field(() => DeploymentMessageKind)
  @Enum({ items: () => DeploymentMessageKind, type: 'string' })
  kind: DeploymentMessageKind = DeploymentMessageKind.STATUS;

  @Field(() => DeploymentStatus)
  @Enum({ items: () => DeploymentStatus, type: 'string' })
  status!: DeploymentStatus;

  @Field(() => DeploymentPhase, { nullable: true })
  @Enum({ items: () => DeploymentPhase, type: 'string', nullable: true })
  phase!: DeploymentPhase | null;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  isFinished: boolean = false;

  @Field(() => String)
  @Property({ type: 'text' })
  message!: string;

  @Field(() => LogStream, { nullable: true, description: 'Who said it; null for what Slipway itself says.' })
  @Enum({ items: () => LogStream, type: 'string', nullable: true })
  stream: LogStream | null = null;
}
