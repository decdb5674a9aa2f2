import { ArrayMaxSize, IsArray, IsBoolean, IsEnum, IsUUID, Matches } from 'class-validator';
import { ArgsType, Field, ID } from 'type-graphql';
import { AutoDeployMeans } from '../../entities/environment.ts';
import type { AutoDeployWish } from '../../services/auto-deploy.service.ts';
import { Clearable, Omittable } from './absence.ts';
import { ChangeArgs, IdArgs, PageArgs } from './page.inputs.ts';

/** A pattern of paths inside the repository. */
const PATTERN = /^(?!.*(^|\/)\.\.(\/|$))!?(?!\/)[^\p{Cc}\u2028\u2029]{1,200}$/u;

@ArgsType()
export class SetAutoDeployArgs extends ChangeArgs implements AutoDeployWish {
  @Field(() => Boolean)
  @IsBoolean()
  enabled!: boolean;

  @Field(() => [String], {
    nullable: true,
    description:
      'Only pushes that change such a file are deployed: `src/**`, `*.lock`, `!docs/**`. Empty for every push.',
  })
  @Omittable()
  @IsArray()
  @ArrayMaxSize(50)
  @Matches(PATTERN, {
    each: true,
    message: '$property must be paths from the root of the repository, such as src/**, of at most 200 characters',
  })
  watchPaths?: string[];

  @Field(() => Boolean, {
    nullable: true,
    description: 'Makes a new secret; the old one counts for nothing from then on.',
  })
  @Omittable()
  @IsBoolean()
  rotateSecret?: boolean;

  @Field(() => AutoDeployMeans, {
    nullable: true,
    description: 'How pushes are to be noticed. Without it the best way that works is found.',
  })
  @Clearable()
  @IsEnum(AutoDeployMeans)
  autoDeployBy?: AutoDeployMeans | null;
}

@ArgsType()
export class HookDeliveriesArgs extends PageArgs {
  @Field(() => ID, { description: 'Of the environment.' })
  @IsUUID()
  id!: string;
}

@ArgsType()
export class RedeliverHookArgs extends IdArgs {
  @Field(() => ID, { description: 'The `id` of the delivery.' })
  @IsUUID()
  deliveryId!: string;
}
