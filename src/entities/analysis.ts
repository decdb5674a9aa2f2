import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, Float, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { Owned } from './base.ts';
import { BuilderKind } from './build.ts';
import { DateTime } from './date-time.ts';
import { JsonValue } from './json.ts';
import { WholeNumber } from './whole-number.ts';

export enum AnalysisStatus {
  QUEUED = 'QUEUED',
  RUNNING = 'RUNNING',
  SUCCEEDED = 'SUCCEEDED',
  FAILED = 'FAILED',
}
registerEnumType(AnalysisStatus, { name: 'AnalysisStatus' });

@ObjectType({ description: 'One answer with its evidence.', simpleResolvers: true })
export class AnalysisAlternative {
  @Field(() => JsonValue)
  value!: string | number | boolean;

  @Field(() => String, { nullable: true })
  file!: string | null;

  @Field(() => String)
  reason!: string;
}

@ObjectType({ description: 'One answer with its evidence.', simpleResolvers: true })
export class AnalysisFinding extends AnalysisAlternative {
  @Field(() => String)
  field!: string;

  @Field(() => Float, { description: 'From 0 to 1.' })
  confidence!: number;

  @Field(() => [AnalysisAlternative])
  alternatives!: AnalysisAlternative[];
}

@ObjectType({ description: 'A database or the like that the application wants beside it.', simpleResolvers: true })
export class AnalysisService {
  @Field(() => String)
  kind!: string;

  @Field(() => String)
  reason!: string;

  @Field(() => String)
  file!: string;

  @Field(() => Boolean, { description: 'Declared by the application, and not only a driver among its dependencies.' })
  required!: boolean;
}

@ObjectType({ description: 'A variable the application reads.', simpleResolvers: true })
export class AnalysisVariable {
  @Field(() => String)
  key!: string;

  @Field(() => Boolean)
  required!: boolean;

  @Field(() => String, { nullable: true })
  example!: string | null;

  @Field(() => String)
  foundIn!: string;

  @Field(() => String, { nullable: true })
  description!: string | null;

  @Field(() => Boolean)
  isSecret!: boolean;

  @Field(() => Boolean, { description: 'Inlined when it is built, so that a change needs a new build.' })
  isBuildTime!: boolean;
}

@ObjectType({ description: 'Something worth knowing about the analysis.', simpleResolvers: true })
export class AnalysisWarning {
  @Field(() => String)
  code!: string;

  @Field(() => String)
  message!: string;

  @Field(() => String, { nullable: true })
  file!: string | null;
}

@ObjectType({ description: 'What one application of the repository is.', simpleResolvers: true })
export class AnalyzedApp {
  @Field(() => String)
  name!: string;

  @Field(() => String, { description: 'Where it lives, from the root of the repository; empty for the root.' })
  directory!: string;

  @Field(() => String, { nullable: true })
  language!: string | null;

  @Field(() => String, { nullable: true })
  languageVersion!: string | null;

  @Field(() => String, { nullable: true })
  framework!: string | null;

  @Field(() => String, { nullable: true })
  packageManager!: string | null;

  @Field(() => String, { nullable: true })
  installCommand!: string | null;

  @Field(() => String, { nullable: true })
  buildCommand!: string | null;

  @Field(() => String, { nullable: true })
  startCommand!: string | null;

  @Field(() => String, { nullable: true, description: 'To be run before a release takes over, such as migrations.' })
  releaseCommand!: string | null;

  @Field(() => String, { nullable: true })
  outputDirectory!: string | null;

  @Field(() => Boolean)
  isStatic!: boolean;

  @Field(() => Int, { nullable: true })
  port!: number | null;

  @Field(() => String, { nullable: true, description: 'Path of the Dockerfile in the repository.' })
  dockerfile!: string | null;

  @Field(() => String, { nullable: true })
  composeFile!: string | null;

  @Field(() => BuilderKind)
  builder!: BuilderKind;

  @Field(() => String, { nullable: true, description: 'Made where the repository has no Dockerfile of its own.' })
  generatedDockerfile!: string | null;

  @Field(() => String, { nullable: true })
  generatedDockerignore!: string | null;

  @Field(() => String, { description: 'The folder the image is built from.' })
  contextDirectory!: string;

  @Field(() => Float, { description: 'From 0 to 1.' })
  confidence!: number;

  @Field(() => [AnalysisFinding])
  findings!: AnalysisFinding[];
}

@ObjectType({ description: 'What a repository is.', simpleResolvers: true })
export class AnalysisResultType extends AnalyzedApp {
  @Field(() => [AnalysisService])
  services!: AnalysisService[];

  @Field(() => [AnalysisVariable])
  variables!: AnalysisVariable[];

  @Field(() => [AnalyzedApp], { description: 'Every application of a monorepo.' })
  apps!: AnalyzedApp[];

  @Field(() => [AnalysisWarning])
  warnings!: AnalysisWarning[];
}

@ObjectType({ description: 'The commit something was done with.', simpleResolvers: true })
export class Commit {
  @Field(() => String)
  sha!: string;

  @Field(() => String)
  message!: string;

  @Field(() => String)
  author!: string;
}

@ObjectType({ description: 'Why an analysis failed, and what to do about it.', simpleResolvers: true })
export class AnalysisError {
  @Field(() => String)
  code!: string;

  @Field(() => String)
  message!: string;

  @Field(() => String)
  hint!: string;
}

@ObjectType({ description: 'A step of an analysis, as its stream tells it.', simpleResolvers: true })
export class AnalysisProgress {
  @Field(() => WholeNumber)
  seq!: number;

  @Field(() => DateTime)
  at!: string;

  @Field(() => AnalysisStatus)
  status!: AnalysisStatus;

  @Field(() => String)
  step!: string;

  @Field(() => String)
  message!: string;

  @Field(() => Int, { description: 'Percent.' })
  progress!: number;

  @Field(() => AnalysisResultType, { nullable: true, description: 'With the last message of one that succeeded.' })
  result!: AnalysisResultType | null;
}

type Optional = 'status' | 'commit' | 'steps' | 'result' | 'error' | 'startedAt' | 'finishedAt' | 'fence';

@ObjectType({ description: 'One look at a repository.', simpleResolvers: true })
@Entity()
export class Analysis extends Owned<Optional> {
  @Field(() => ID)
  @Property({ type: 'uuid' })
  projectId!: string;

  @Field(() => AnalysisStatus)
  @Enum({ items: () => AnalysisStatus, type: 'string' })
  status: AnalysisStatus = AnalysisStatus.QUEUED;

  @Field(() => Commit, { nullable: true })
  @Property({ type: 'json', nullable: true })
  commit: Commit | null = null;

  @Field(() => [AnalysisProgress])
  @Property({ type: 'json' })
  steps: AnalysisProgress[] = [];

  @Field(() => AnalysisResultType, { nullable: true })
  @Property({ type: 'json', nullable: true })
  result: AnalysisResultType | null = null;

  @Field(() => AnalysisError, { nullable: true })
  @Property({ type: 'json', nullable: true })
  error: AnalysisError | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  startedAt: Date | null = null;

  @Field(() => DateTime, { nullable: true })
  @Property({ type: 'datetime', length: 3, nullable: true })
  finishedAt: Date | null = null;

  /** Goes up each time a worker takes it up, so that the one before cannot write any more. */
  @Property({ type: 'integer', hidden: true })
  fence: number = 0;
}
