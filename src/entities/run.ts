import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Owned } from './base.ts';
import { DateTime } from './date-time.ts';

export enum RunKind {
  RESEAL = 'RESEAL',
  DELETE_PROJECT = 'DELETE_PROJECT',
  INSTALL_DOCKER = 'INSTALL_DOCKER',
  CHECK_SECURITY = 'CHECK_SECURITY',
  HARDEN_SERVER = 'HARDEN_SERVER',
  DELETE_ENVIRONMENT = 'DELETE_ENVIRONMENT',
  RESTART_ENVIRONMENT = 'RESTART_ENVIRONMENT',
  STOP_ENVIRONMENT = 'STOP_ENVIRONMENT',
  START_ENVIRONMENT = 'START_ENVIRONMENT',
}
registerEnumType(RunKind, {
  name: 'RunKind',
  valuesConfig: {
    RESEAL: { description: 'Seals the stored secrets of a workspace with the current master key.' },
    DELETE_PROJECT: { description: 'Removes a project and what it left on servers.' },
    INSTALL_DOCKER: { description: "Installs Docker on a server from the distribution's packages." },
    CHECK_SECURITY: { description: 'Looks at the security of a server.' },
    DELETE_ENVIRONMENT: { description: 'Removes an environment and what it left on its server.' },
    RESTART_ENVIRONMENT: { description: 'Starts what serves anew.' },
    STOP_ENVIRONMENT: { description: 'Stops what serves.' },
    START_ENVIRONMENT: { description: 'Starts what was stopped.' },
    HARDEN_SERVER: { description: 'Hardens a server; what goes wrong is put back.' },
  },
});

export enum RunStatus {
  QUEUED = 'QUEUED',
  RUNNING = 'RUNNING',
  SUCCEEDED = 'SUCCEEDED',
  FAILED = 'FAILED',
  REVERTED = 'REVERTED',
  CANCELLED = 'CANCELLED',
}
registerEnumType(RunStatus, { name: 'RunStatus' });

@ObjectType({ description: 'One step of a run.', simpleResolvers: true })
export class RunStep {
  @Field(() => String)
  name!: string;

  @Field(() => RunStatus)
  status!: RunStatus;

  @Field(() => String, { nullable: true })
  message!: string | null;

  @Field(() => DateTime, { nullable: true })
  startedAt!: string | null;

  @Field(() => DateTime, { nullable: true })
  finishedAt!: string | null;
}

@ObjectType({ description: 'Why a run failed and what to do about it.', simpleResolvers: true })
export class RunError {
  @Field(() => String)
  code!: string;

  @Field(() => String)
  message!: string;

  @Field(() => String, { nullable: true })
  hint!: string | null;
}

type Optional =
  | 'fence'
  | 'status'
  | 'steps'
  | 'error'
  | 'startedAt'
  | 'finishedAt'
  | 'cancelAskedAt'
  | 'requestedBy'
  | 'subject'
  | 'leftBehind';

@ObjectType({ description: 'Long work that is no deployment, backup or analysis.', simpleResolvers: true })
@Entity()
export class Run extends Owned<Optional> {
  @Field(() => RunKind)
  @Enum({ items: () => RunKind, type: 'string' })
  kind!: RunKind;

  @Field(() => RunStatus)
  @Enum({ items: () => RunStatus, type: 'string' })
  status: RunStatus = RunStatus.QUEUED;

  @Field(() => [RunStep])
  @Property({ type: 'json' })
  steps: RunStep[] = [];

  @Field(() => RunError, { nullable: true })
  @Property({ type: 'json', nullable: true })
  error: RunError | null = null;

  @Field(() => ID, { nullable: true, description: 'The account that asked for it; null for the service itself.' })
  @Property({ type: 'uuid', nullable: true })
  requestedBy: string | null = null;

  @Field(() => String, { nullable: true, description: 'Type and id of what is worked on: "Server:0199…".' })
  @Property({ type: 'string', nullable: true })
  subject: string | null = null;

  @Field(() => [String], { description: 'What could not be removed because its server is gone, by name.' })
  @Property({ type: 'json' })
  leftBehind: string[] = [];

  /** Goes up each time a worker takes the run up, so that the one before cannot write any more. */
  @Property({ type: 'integer', hidden: true })
  fence: number = 0;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  startedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true, description: 'Since when it is being cancelled, if it had begun by then.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  cancelAskedAt: Date | null = null;
}
