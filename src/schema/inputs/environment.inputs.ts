import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsEnum,
  IsInt,
  IsUUID,
  Length,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { ArgsType, Field, ID, Int } from 'type-graphql';
import { EnvironmentStatus, SslMode } from '../../entities/environment.ts';
import type { EnvironmentChange, NewEnvironment } from '../../services/environment.service.ts';
import type { DomainWish } from '../../services/environment-domain.service.ts';
import type { MoveWish } from '../../services/environment-move.service.ts';
import type { ServicesWish } from '../../services/environment-services.service.ts';
import { Clearable, Omittable } from './absence.ts';
import { HealthCheckInput, IsHostname, ResourcesInput, ServiceInput } from './environment-parts.inputs.ts';
import { IsBranch, IsPlainText } from './names.ts';
import { ChangeArgs, PageArgs } from './page.inputs.ts';
import { BuildInput } from './project.inputs.ts';

@ArgsType()
export class CreateEnvironmentArgs implements NewEnvironment {
  @Field(() => ID)
  @IsUUID()
  projectId!: string;

  @Field(() => String)
  @Length(1, 100)
  @IsPlainText(100)
  name!: string;

  @Field(() => String, { nullable: true, description: "Without it the project's branch." })
  @Clearable()
  @IsBranch()
  branch?: string | null;

  @Field(() => ID, { nullable: true, description: 'Where it will run; it can be chosen later.' })
  @Clearable()
  @IsUUID()
  serverId?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Deploy each push. False unless told otherwise.' })
  @Clearable()
  @IsBoolean()
  autoDeploy?: boolean | null;

  @Field(() => BuildInput, { nullable: true, description: "What differs from the project's own build." })
  @Clearable()
  @ValidateNested()
  build?: BuildInput | null;
}

@ArgsType()
export class EnvironmentsArgs extends PageArgs {
  @Field(() => ID, { nullable: true })
  @Omittable()
  @IsUUID()
  projectId?: string;

  @Field(() => EnvironmentStatus, { nullable: true })
  @Omittable()
  @IsEnum(EnvironmentStatus)
  status?: EnvironmentStatus;
}

@ArgsType()
export class UpdateEnvironmentArgs extends ChangeArgs implements EnvironmentChange {
  @Field(() => String, { nullable: true })
  @Omittable()
  @Length(1, 100)
  @IsPlainText(100)
  name?: string;

  @Field(() => String, { nullable: true, description: "One of the repository's. Null follows the project's branch." })
  @Clearable()
  @IsBranch()
  branch?: string | null;

  @Field(() => ID, { nullable: true, description: 'What is live is moved by a deployment.' })
  @Clearable()
  @IsUUID()
  serverId?: string | null;

  @Field(() => Boolean, { nullable: true })
  @Omittable()
  @IsBoolean()
  autoDeploy?: boolean;

  @Field(() => BuildInput, { nullable: true })
  @Clearable()
  @ValidateNested()
  build?: BuildInput | null;

  @Field(() => HealthCheckInput, { nullable: true })
  @Clearable()
  @ValidateNested()
  healthCheck?: HealthCheckInput | null;

  @Field(() => ResourcesInput, { nullable: true })
  @Clearable()
  @ValidateNested()
  resources?: ResourcesInput | null;

  @Field(() => String, { nullable: true, description: 'Runs in the new image before the release starts.' })
  @Clearable()
  @IsPlainText(1000)
  preDeployCommand?: string | null;

  @Field(() => Int, { nullable: true })
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(50)
  keepReleases?: number;
}

@ArgsType()
export class SetBranchArgs extends ChangeArgs {
  @Field(() => String)
  @IsBranch()
  branch!: string;
}

@ArgsType()
export class MoveEnvironmentArgs extends ChangeArgs implements MoveWish {
  @Field(() => ID)
  @IsUUID()
  serverId!: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Forget what is on the old server, if that does not answer any more.',
  })
  @Omittable()
  @IsBoolean()
  force?: boolean;
}

@ArgsType()
export class SetServicesArgs extends ChangeArgs implements ServicesWish {
  @Field(() => [ServiceInput], { description: 'All that are wanted; a service is known by its name.' })
  @IsArray()
  @ArrayMaxSize(20)
  @ArrayUnique(({ name }: ServiceInput) => name, { message: 'services must not name one twice' })
  @ValidateNested({ each: true })
  services!: ServiceInput[];

  @Field(() => String, {
    nullable: true,
    description: '"project/environment", by their slugs: needed where data would be lost.',
  })
  @Clearable()
  @MaxLength(200)
  confirm?: string | null;
}

@ArgsType()
export class SetDomainArgs extends ChangeArgs implements DomainWish {
  @Field(() => String)
  @IsHostname()
  hostname!: string;

  @Field(() => SslMode, { nullable: true, defaultValue: SslMode.AUTO })
  @IsEnum(SslMode)
  ssl: SslMode = SslMode.AUTO;

  @Field(() => Boolean, { nullable: true, description: 'True unless told otherwise.' })
  @Clearable()
  @IsBoolean()
  forceHttps?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'False unless told otherwise.' })
  @Clearable()
  @IsBoolean()
  redirectWww?: boolean | null;

  @Field(() => String, { nullable: true, description: 'In PEM, with those of its authorities behind it.' })
  @Clearable()
  @MaxLength(65_536)
  certificate?: string | null;

  @Field(() => String, { nullable: true, description: 'In PEM, without a passphrase. It never comes back.' })
  @Clearable()
  @MaxLength(16_384)
  privateKey?: string | null;
}

@ArgsType()
export class DeleteDomainArgs extends ChangeArgs {
  @Field(() => String)
  @IsHostname()
  hostname!: string;
}
