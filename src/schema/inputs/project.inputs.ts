import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsEnum,
  IsUUID,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { ArgsType, Field, ID, InputType, Int } from 'type-graphql';
import { BuilderKind, type BuildSettings } from '../../entities/build.ts';
import { ProjectStatus } from '../../entities/project.ts';
import type { RepositoryWish } from '../../services/analysis.service.ts';
import type { EnvironmentWish, FinalizeWish } from '../../services/finalize.service.ts';
import type { ProjectChange, ProjectWish } from '../../services/project.service.ts';
import { Clearable, Omittable } from './absence.ts';
import { DomainInput, ServiceInput, VariableInput } from './environment-parts.inputs.ts';
import { IsBranch, IsFolder, IsPlainText } from './names.ts';
import { ChangeArgs, PageArgs } from './page.inputs.ts';

@InputType({ description: 'How to build and start; what is null follows the analysis, what is left out stays.' })
export class BuildInput implements Partial<BuildSettings> {
  @Field(() => BuilderKind, { nullable: true })
  @Clearable()
  @IsEnum(BuilderKind)
  builder?: BuilderKind | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsFolder()
  dockerfile?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsFolder()
  composeFile?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsPlainText(1000)
  installCommand?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsPlainText(1000)
  buildCommand?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsPlainText(1000)
  startCommand?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsFolder()
  outputDirectory?: string | null;

  @Field(() => Int, { nullable: true })
  @Clearable()
  @Min(1)
  @Max(65_535)
  port?: number | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @Matches(/^[\w.+-]{1,32}$/, { message: 'languageVersion must be a version such as 24 or 3.12' })
  languageVersion?: string | null;
}

@ArgsType()
export class RepositoryArgs implements RepositoryWish {
  @Field(() => String, { description: 'The full name at the provider, or a public https address.' })
  @IsPlainText(600)
  repository!: string;

  @Field(() => ID, { nullable: true })
  @Clearable()
  @IsUUID()
  gitProviderId?: string | null;

  @Field(() => String, { nullable: true, description: 'Without it the default branch.' })
  @Clearable()
  @IsBranch()
  branch?: string | null;

  @Field(() => String, { nullable: true, description: 'A folder of the repository, for monorepos.' })
  @Clearable()
  @IsFolder()
  rootDirectory?: string | null;
}

@ArgsType()
export class CreateProjectArgs extends RepositoryArgs implements ProjectWish {
  @Field(() => String)
  @Length(1, 100)
  @IsPlainText(100)
  name!: string;

  @Field(() => String, { nullable: true })
  @Clearable()
  @MaxLength(2000)
  description?: string | null;
}

@ArgsType()
export class UpdateProjectArgs extends ChangeArgs implements ProjectChange {
  @Field(() => String, { nullable: true })
  @Omittable()
  @Length(1, 100)
  @IsPlainText(100)
  name?: string;

  @Field(() => String, { nullable: true })
  @Clearable()
  @MaxLength(2000)
  description?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsBranch()
  branch?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsFolder()
  rootDirectory?: string | null;

  @Field(() => BuildInput, { nullable: true })
  @Omittable()
  @ValidateNested()
  build?: BuildInput;
}

@ArgsType()
export class ProjectsArgs extends PageArgs {
  @Field(() => ProjectStatus, { nullable: true })
  @Omittable()
  @IsEnum(ProjectStatus)
  status?: ProjectStatus;
}

@InputType()
export class EnvironmentInput implements EnvironmentWish {
  @Field(() => String)
  @Length(1, 100)
  @IsPlainText(100)
  name!: string;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsBranch()
  branch?: string | null;

  @Field(() => ID, { nullable: true })
  @Clearable()
  @IsUUID()
  serverId?: string | null;

  @Field(() => [VariableInput], { nullable: true })
  @Clearable()
  @IsArray()
  @ArrayMaxSize(500)
  @ArrayUnique(({ key }: VariableInput) => key, { message: 'variables must not name a key twice' })
  @ValidateNested({ each: true })
  variables?: VariableInput[] | null;

  @Field(() => [ServiceInput], { nullable: true })
  @Clearable()
  @IsArray()
  @ArrayMaxSize(20)
  @ArrayUnique(({ name }: ServiceInput) => name, { message: 'services must not name one twice' })
  @ValidateNested({ each: true })
  services?: ServiceInput[] | null;

  @Field(() => DomainInput, { nullable: true })
  @Clearable()
  @ValidateNested()
  domain?: DomainInput | null;

  @Field(() => Boolean, { nullable: true })
  @Clearable()
  @IsBoolean()
  autoDeploy?: boolean | null;
}

@ArgsType()
export class FinalizeProjectArgs extends ChangeArgs implements FinalizeWish {
  @Field(() => String, { nullable: true })
  @Clearable()
  @Length(1, 100)
  @IsPlainText(100)
  name?: string | null;

  @Field(() => BuildInput, { nullable: true })
  @Clearable()
  @ValidateNested()
  build?: BuildInput | null;

  @Field(() => EnvironmentInput)
  @ValidateNested()
  environment!: EnvironmentInput;

  @Field(() => Boolean, { nullable: true, description: 'Queue a first deployment too.' })
  @Clearable()
  @IsBoolean()
  deploy?: boolean | null;
}
