import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { Secret } from '../security/secret.ts';
import { SecretType } from '../security/secret-type.ts';
import { Commit } from './analysis.ts';
import { Owned } from './base.ts';
import { BuilderKind } from './build.ts';
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
registerEnumType(DeploymentStatus, {
  name: 'DeploymentStatus',
  valuesConfig: {
    LIVE: { description: 'It answered its health check, and traffic has moved to it.' },
    SUPERSEDED: { description: 'It was live until a later one took over.' },
    SKIPPED: { description: 'A newer one overtook it before it began.' },
    FAILED: { description: 'Nothing of it is left; what served before still serves.' },
    CANCELLED: { description: 'Nothing of it runs on the server any more.' },
  },
});

export enum DeploymentPhase {
  PREPARING = 'PREPARING',
  BUILDING = 'BUILDING',
  PRE_DEPLOY = 'PRE_DEPLOY',
  STARTING = 'STARTING',
  VERIFYING = 'VERIFYING',
  SWITCHING = 'SWITCHING',
  DRAINING = 'DRAINING',
}
registerEnumType(DeploymentPhase, {
  name: 'DeploymentPhase',
  valuesConfig: {
    PREPARING: { description: 'Fetches the source and looks at the server.' },
    BUILDING: { description: 'Builds the image on the server.' },
    PRE_DEPLOY: { description: 'Runs the command that comes before a release, such as migrations.' },
    STARTING: { description: 'Starts the new release beside the old one.' },
    VERIFYING: { description: 'Waits until the new release answers its health check.' },
    SWITCHING: { description: 'Moves traffic to the new release.' },
    DRAINING: { description: 'Lets the old release finish what it has begun, and stops it.' },
  },
});

export enum DeploymentTrigger {
  MANUAL = 'MANUAL',
  FINALIZE = 'FINALIZE',
  PUSH = 'PUSH',
  ROLLBACK = 'ROLLBACK',
  MOVE = 'MOVE',
}
registerEnumType(DeploymentTrigger, { name: 'DeploymentTrigger' });

@ObjectType({ description: 'When a phase began and ended.', simpleResolvers: true })
export class DeploymentPhaseTimes {
  @Field(() => DeploymentPhase)
  name!: DeploymentPhase;

  @Field(() => DateTime)
  startedAt!: string;

  @Field(() => DateTime, { nullable: true })
  finishedAt!: string | null;
}

@ObjectType({ description: 'Why a deployment failed and what to do about it.', simpleResolvers: true })
export class DeploymentError {
  @Field(() => DeploymentPhase, { nullable: true })
  phase!: DeploymentPhase | null;

  @Field(() => String, { description: 'A reason code, such as BUILD_FAILED or HEALTH_TIMEOUT.' })
  code!: string;

  @Field(() => String)
  message!: string;

  @Field(() => String, { nullable: true })
  hint!: string | null;
}

type Optional =
  | ('serverId' | 'status' | 'phase' | 'isFinished' | 'actor' | 'commit' | 'branch' | 'image' | 'rollbackOf')
  | ('supersededBy' | 'error' | 'phases' | 'startedAt' | 'finishedAt' | 'wantedCommit' | 'rebuild' | 'fence')
  | ('cancelAskedAt' | 'logSeq' | 'variables' | 'buildKey' | 'appPort' | 'hostPort' | 'usesCurrentVariables')
  | ('hasLeftovers' | 'builder' | 'seenChanges' | 'composition' | 'images');

/** One attempt, and what it left running: its release. */
@ObjectType({ description: 'One attempt to put a commit live.', simpleResolvers: true })
@Entity()
export class Deployment extends Owned<Optional> {
  @Field(() => ID)
  @Property({ type: 'uuid' })
  projectId!: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  environmentId!: string;

  @Field(() => ID, { nullable: true, description: 'Where it goes, decided when it is queued.' })
  @Property({ type: 'uuid', nullable: true })
  serverId: string | null = null;

  @Field(() => Int, { description: 'Counts the deployments of its environment.' })
  @Property({ type: 'integer' })
  number!: number;

  @Field(() => DeploymentStatus)
  @Enum({ items: () => DeploymentStatus, type: 'string' })
  status: DeploymentStatus = DeploymentStatus.QUEUED;

  @Field(() => DeploymentPhase, { nullable: true, description: 'How far it has come; null while it is queued.' })
  @Enum({ items: () => DeploymentPhase, type: 'string', nullable: true })
  phase: DeploymentPhase | null = null;

  @Field(() => Boolean, { description: 'Nothing more happens to it by itself.' })
  @Property({ type: 'boolean' })
  isFinished: boolean = false;

  @Field(() => DeploymentTrigger)
  @Enum({ items: () => DeploymentTrigger, type: 'string' })
  trigger!: DeploymentTrigger;

  @Field(() => ID, { nullable: true, description: 'The account that asked for it; null for a push.' })
  @Property({ type: 'uuid', nullable: true })
  actor: string | null = null;

  @Field(() => Commit, { nullable: true })
  @Property({ type: 'json', nullable: true })
  commit: Commit | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  branch: string | null = null;

  @Field(() => String, { nullable: true, description: 'The image on the server, while it is kept.' })
  @Property({ type: 'string', nullable: true })
  image: string | null = null;

  @Field(() => BuilderKind, { nullable: true, description: 'How its image was made; null until that is decided.' })
  @Enum({ items: () => BuilderKind, type: 'string', nullable: true })
  builder: BuilderKind | null = null;

  @Field(() => ID, { nullable: true, description: 'The deployment whose release it brings back.' })
  @Property({ type: 'uuid', nullable: true })
  rollbackOf: string | null = null;

  @Field(() => ID, { nullable: true, description: 'The deployment that took its place.' })
  @Property({ type: 'uuid', nullable: true })
  supersededBy: string | null = null;

  @Field(() => DeploymentError, { nullable: true })
  @Property({ type: 'json', nullable: true })
  error: DeploymentError | null = null;

  @Field(() => [DeploymentPhaseTimes])
  @Property({ type: 'json' })
  phases: DeploymentPhaseTimes[] = [];

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  startedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;

  /** The commit that was asked for; null for the newest of the branch. */
  @Property({ type: 'string', nullable: true, hidden: true })
  wantedCommit: string | null = null;

  @Field(() => Boolean, { description: 'It is built even where an image of the same source is kept.' })
  @Property({ type: 'boolean' })
  rebuild: boolean = false;

  /** A rollback brings its release's variables back unless this is set. */
  @Property({ type: 'boolean', hidden: true })
  usesCurrentVariables: boolean = true;

  /** Goes up each time a worker takes it up, so that the one before cannot write any more. */
  @Property({ type: 'integer', hidden: true })
  fence: number = 0;

  @Property({ type: 'datetime', length: 3, nullable: true, hidden: true })
  cancelAskedAt: Date | null = null;

  /** The number of its last message. */
  @Property({ type: 'integer', hidden: true })
  logSeq: number = 0;

  /** The variables it was started with, as sealed JSON, so that a rollback brings them back. */
  @Property({ type: SecretType, nullable: true, hidden: true })
  variables: Secret | null = null;

  /** The compose file it was made of, with what else is needed to read it again, as sealed JSON. */
  @Property({ type: SecretType, nullable: true, hidden: true })
  composition: Secret | null = null;

  /** All images of its own that it needs: one for each service that is built. Empty where `image` is the only one. */
  @Property({ type: 'json', hidden: true })
  images: string[] = [];

  /** What its image was made of: the same key is the same image. */
  @Property({ type: 'string', nullable: true, hidden: true })
  buildKey: string | null = null;

  /** Where the application listens inside its container; null for one that does not listen. */
  @Property({ type: 'integer', nullable: true, hidden: true })
  appPort: number | null = null;

  /** Where the proxy of the server finds it, on that server's loopback. */
  @Property({ type: 'integer', nullable: true, hidden: true })
  hostPort: number | null = null;

  /** How many changes of the environment it knows of; what came after them waits for the next one. */
  @Property({ type: 'integer', hidden: true })
  seenChanges: number = 0;

  /** Something of it is still on a server that could not be reached: it is removed when the server is back. */
  @Property({ type: 'boolean', hidden: true })
  hasLeftovers: boolean = false;
}
