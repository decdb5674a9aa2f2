import { IsEnum, IsInt, IsUUID, Length, Matches, Max, Min } from 'class-validator';
import { ArgsType, Field, ID, Int, registerEnumType } from 'type-graphql';
import { DeploymentStatus } from '../../entities/deployment.ts';
import { WholeNumber } from '../../entities/whole-number.ts';
import type { DeployWish } from '../../services/deployment.service.ts';
import type { DeploymentKey, LogPage, StoryWish } from '../../services/deployment-log.service.ts';
import { Clearable, Omittable } from './absence.ts';
import { PageArgs } from './page.inputs.ts';

@ArgsType()
export class DeploymentsArgs extends PageArgs {
  @Field(() => ID, { nullable: true, description: 'Only those of this project.' })
  @Omittable()
  @IsUUID()
  projectId?: string;

  @Field(() => ID, { nullable: true, description: 'Only those of this environment.' })
  @Omittable()
  @IsUUID()
  environmentId?: string;

  @Field(() => DeploymentStatus, { nullable: true })
  @Omittable()
  @IsEnum(DeploymentStatus)
  status?: DeploymentStatus;
}

@ArgsType()
export class EnvironmentDeploymentsArgs extends PageArgs {
  @Field(() => ID)
  @IsUUID()
  environmentId!: string;

  @Field(() => DeploymentStatus, { nullable: true })
  @Omittable()
  @IsEnum(DeploymentStatus)
  status?: DeploymentStatus;
}

@ArgsType()
export class DeploymentKeyArgs implements DeploymentKey {
  @Field(() => ID, { description: 'Its environment.' })
  @IsUUID()
  environmentId!: string;

  @Field(() => ID)
  @IsUUID()
  id!: string;
}

@ArgsType()
export class DeploymentArgs extends DeploymentKeyArgs {
  @Field(() => Int, {
    nullable: true,
    defaultValue: 0,
    description: 'Answer when it is finished, or after so many seconds, at most 60.',
  })
  @IsInt()
  @Min(0)
  @Max(60)
  wait: number = 0;
}

@ArgsType()
export class CreateDeploymentArgs implements DeployWish {
  @Field(() => ID)
  @IsUUID()
  environmentId!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The whole id of a commit; the newest of the branch without it.',
  })
  @Clearable()
  @Matches(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i, {
    message: 'commit must be the whole id of a commit: 40 hexadecimal digits',
  })
  commit?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    defaultValue: false,
    description: 'Build even where an image of the same source is kept.',
  })
  rebuild: boolean = false;
}

export enum RollbackVariables {
  RELEASE = 'RELEASE',
  CURRENT = 'CURRENT',
}
registerEnumType(RollbackVariables, {
  name: 'RollbackVariables',
  valuesConfig: {
    RELEASE: { description: 'Those that release was started with.' },
    CURRENT: { description: 'Those the environment has now.' },
  },
});

@ArgsType()
export class RollbackDeploymentArgs extends DeploymentKeyArgs {
  @Field(() => RollbackVariables, { nullable: true, defaultValue: RollbackVariables.RELEASE })
  @IsEnum(RollbackVariables)
  variables: RollbackVariables = RollbackVariables.RELEASE;
}

@ArgsType()
export class DeploymentStatusArgs extends DeploymentKeyArgs implements StoryWish {
  @Field(() => Boolean, { nullable: true, defaultValue: true, description: 'False for changes of state alone.' })
  logs: boolean = true;

  @Field(() => String, { nullable: true, description: 'Resume behind this message: its `seq`.' })
  @Clearable()
  @Length(1, 64)
  after?: string | null;
}

@ArgsType()
export class DeploymentLogsArgs extends DeploymentKeyArgs implements LogPage {
  @Field(() => Int, { nullable: true, defaultValue: 50, description: 'How many, at most 100.' })
  @Min(1)
  @Max(100)
  limit: number = 50;

  @Field(() => WholeNumber, { nullable: true, description: 'The `seq` of the last line seen: those after it.' })
  @Clearable()
  @Min(0)
  @Max(999_999_999)
  after?: number | null;
}
