import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { clock } from '../clock.ts';
import { Owned } from './base.ts';
import { BuildSettings } from './build.ts';
import { DateTime } from './date-time.ts';

export enum ProjectStatus {
  ANALYZING = 'ANALYZING',
  ANALYZED = 'ANALYZED',
  ANALYSIS_FAILED = 'ANALYSIS_FAILED',
  READY = 'READY',
  DELETING = 'DELETING',
  DELETE_FAILED = 'DELETE_FAILED',
}
registerEnumType(ProjectStatus, { name: 'ProjectStatus' });

type Optional =
  | 'description'
  | 'gitProviderId'
  | 'branch'
  | 'rootDirectory'
  | 'status'
  | 'build'
  | 'analysisId'
  | 'updatedAt'
  | 'isFinalized';

@ObjectType({ description: 'A repository that is or will be deployed.', simpleResolvers: true })
@Entity()
export class Project extends Owned<Optional> {
  @Field(() => String)
  @Property({ type: 'string' })
  name!: string;

  @Field(() => String, {
    description: 'Made of the name once, unique in the workspace; it does not change with the name.',
  })
  @Property({ type: 'string' })
  slug!: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  description: string | null = null;

  @Field(() => ID, { nullable: true, description: 'The account it is read with; null for a public address.' })
  @Property({ type: 'uuid', nullable: true })
  gitProviderId: string | null = null;

  @Field(() => String, { description: 'The full name at the provider, or the address.' })
  @Property({ type: 'text' })
  repository!: string;

  @Field(() => String, { nullable: true, description: 'Null follows the default branch of the repository.' })
  @Property({ type: 'string', nullable: true })
  branch: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  rootDirectory: string | null = null;

  @Field(() => ProjectStatus)
  @Enum({ items: () => ProjectStatus, type: 'string' })
  status: ProjectStatus = ProjectStatus.ANALYZING;

  @Field(() => BuildSettings)
  @Property({ type: 'json' })
  build: BuildSettings = new BuildSettings();

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  analysisId: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3, onUpdate: () => clock.now() })
  updatedAt: Date = clock.now();

  /** A project that is being deleted was READY if, and only if, it was finalised. */
  @Property({ type: 'boolean', hidden: true })
  isFinalized: boolean = false;
}
