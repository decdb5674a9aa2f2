import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { clock } from '../clock.ts';
import type { Secret } from '../security/secret.ts';
import { SecretType } from '../security/secret-type.ts';
import { Owned } from './base.ts';
import { BuildSettings } from './build.ts';
import { DateTime } from './date-time.ts';

export enum EnvironmentStatus {
  IDLE = 'IDLE',
  LIVE = 'LIVE',
  DEGRADED = 'DEGRADED',
  DOWN = 'DOWN',
  STOPPED = 'STOPPED',
  DELETING = 'DELETING',
  DELETE_FAILED = 'DELETE_FAILED',
}
registerEnumType(EnvironmentStatus, { name: 'EnvironmentStatus' });

export enum AutoDeployMeans {
  WEBHOOK = 'WEBHOOK',
  BY_HAND = 'BY_HAND',
  POLLING = 'POLLING',
}
registerEnumType(AutoDeployMeans, {
  name: 'AutoDeployMeans',
  valuesConfig: {
    WEBHOOK: { description: 'A webhook that Slipway registered at the provider.' },
    BY_HAND: { description: 'A webhook that the user sets up with hookUrl and hookSecret.' },
    POLLING: { description: 'The branch is looked at every minute.' },
  },
});

export enum ServiceKind {
  POSTGRES = 'POSTGRES',
  MYSQL = 'MYSQL',
  MARIADB = 'MARIADB',
  REDIS = 'REDIS',
  MONGODB = 'MONGODB',
}
registerEnumType(ServiceKind, { name: 'ServiceKind' });

export enum SslMode {
  AUTO = 'AUTO',
  CUSTOM = 'CUSTOM',
  OFF = 'OFF',
}
registerEnumType(SslMode, { name: 'SslMode' });

@ObjectType({ description: 'A database or the like that runs beside the application.', simpleResolvers: true })
export class EnvironmentService {
  @Field(() => String)
  name!: string;

  @Field(() => ServiceKind)
  kind!: ServiceKind;

  @Field(() => String, { nullable: true })
  version!: string | null;
}

@ObjectType({ description: 'A name the application answers by.', simpleResolvers: true })
export class EnvironmentDomain {
  @Field(() => String)
  hostname!: string;

  @Field(() => SslMode)
  ssl!: SslMode;

  @Field(() => Boolean, { description: 'Requests by http are sent on to https.' })
  forceHttps!: boolean;

  @Field(() => Boolean, { description: 'Requests to www. in front of the name are sent on to the name.' })
  redirectWww!: boolean;
}

@ObjectType({ description: 'How a new release proves that it works.', simpleResolvers: true })
export class HealthCheck {
  @Field(() => String)
  path: string = '/';

  @Field(() => Int)
  intervalSeconds: number = 2;

  @Field(() => Int)
  timeoutSeconds: number = 5;

  @Field(() => Int)
  retries: number = 30;
}

@ObjectType({ description: 'What the application may use; null is no limit.', simpleResolvers: true })
export class Resources {
  @Field(() => Float, { nullable: true })
  cpus: number | null = null;

  @Field(() => Int, { nullable: true })
  memoryMb: number | null = null;
}

/** What looks at an application have to remember from one to the next. */
export interface AppWatch {
  deploymentId: string;
  /** How often Docker had started it anew by then. */
  restarts: number;
  /** How often in a row it did not answer well. */
  misses: number;
}

type Optional =
  | ('branch' | 'serverId' | 'status' | 'needsDeploy' | 'autoDeploy' | 'url' | 'domains' | 'services' | 'build')
  | ('healthCheck' | 'resources' | 'currentDeploymentId' | 'latestDeploymentId' | 'updatedAt' | 'statusReason')
  | ('preDeployCommand' | 'keepReleases' | 'publicPort' | 'autoDeployBy' | 'watchPaths' | 'hookSecret' | 'hookId')
  | ('seenCommit' | 'seenBranch' | 'deploymentCount' | 'changeCount' | 'statusBefore' | 'watch');

@ObjectType({ description: 'One running copy of a project: a branch on a server.', simpleResolvers: true })
@Entity()
export class Environment extends Owned<Optional> {
  @Field(() => ID)
  @Property({ type: 'uuid' })
  projectId!: string;

  @Field(() => String)
  @Property({ type: 'string' })
  name!: string;

  @Field(() => String, { description: 'Made of the name once, unique in the project.' })
  @Property({ type: 'string' })
  slug!: string;

  @Field(() => String, { nullable: true, description: "Null follows the project's branch." })
  @Property({ type: 'string', nullable: true })
  branch: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  serverId: string | null = null;

  @Field(() => EnvironmentStatus)
  @Enum({ items: () => EnvironmentStatus, type: 'string' })
  status: EnvironmentStatus = EnvironmentStatus.IDLE;

  @Field(() => String, { nullable: true, description: 'What is wrong with it, where something is.' })
  @Property({ type: 'text', nullable: true })
  statusReason: string | null = null;

  @Field(() => Boolean, { description: 'Something was changed that takes effect with the next deployment.' })
  @Property({ type: 'boolean' })
  needsDeploy: boolean = true;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  autoDeploy: boolean = false;

  @Field(() => AutoDeployMeans, { nullable: true, description: 'How pushes are noticed, while autoDeploy is on.' })
  @Enum({ items: () => AutoDeployMeans, type: 'string', nullable: true })
  autoDeployBy: AutoDeployMeans | null = null;

  @Field(() => [String], {
    description: 'Only pushes that change one of these paths are deployed; empty for every push.',
  })
  @Property({ type: 'json' })
  watchPaths: string[] = [];

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  url: string | null = null;

  @Field(() => [EnvironmentDomain])
  @Property({ type: 'json' })
  domains: EnvironmentDomain[] = [];

  @Field(() => [EnvironmentService])
  @Property({ type: 'json' })
  services: EnvironmentService[] = [];

  @Field(() => BuildSettings)
  @Property({ type: 'json' })
  build: BuildSettings = new BuildSettings();

  @Field(() => HealthCheck)
  @Property({ type: 'json' })
  healthCheck: HealthCheck = new HealthCheck();

  @Field(() => Resources)
  @Property({ type: 'json' })
  resources: Resources = new Resources();

  @Field(() => String, {
    nullable: true,
    description: 'Runs in the new image before the release starts, such as migrations.',
  })
  @Property({ type: 'text', nullable: true })
  preDeployCommand: string | null = null;

  @Field(() => Int, { description: 'How many releases are kept to roll back to.' })
  @Property({ type: 'integer' })
  keepReleases: number = 5;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  currentDeploymentId: string | null = null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  latestDeploymentId: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3, onUpdate: () => clock.now() })
  updatedAt: Date = clock.now();

  /** Where it answers on its server while it has no name of its own. */
  @Property({ type: 'integer', nullable: true, hidden: true })
  publicPort: number | null = null;

  @Property({ type: SecretType, nullable: true, hidden: true })
  hookSecret: Secret | null = null;

  /** The provider's own id of the webhook that we registered there. */
  @Property({ type: 'string', nullable: true, hidden: true })
  hookId: string | null = null;

  /** The newest commit that was noticed, and on which branch: what is noticed twice is deployed once. */
  @Property({ type: 'string', nullable: true, hidden: true })
  seenCommit: string | null = null;

  @Property({ type: 'string', nullable: true, hidden: true })
  seenBranch: string | null = null;

  /** The number of its last deployment. */
  @Property({ type: 'integer', hidden: true })
  deploymentCount: number = 0;

  /** Goes up with each change that takes effect with the next deployment: one that is under way has not seen the later ones. */
  @Property({ type: 'integer', hidden: true })
  changeCount: number = 0;

  /** What it was when its deletion was asked for, in case that is taken back. */
  @Enum({ items: () => EnvironmentStatus, type: 'string', nullable: true, hidden: true })
  statusBefore: EnvironmentStatus | null = null;

  /** What the last look at its application found. */
  @Property({ type: 'json', nullable: true, hidden: true })
  watch: AppWatch | null = null;
}
