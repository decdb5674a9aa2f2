import { Field, ID, Int, ObjectType } from 'type-graphql';
import { AutoDeployMeans } from '../../entities/environment.ts';
import type { AutoDeployFacts } from '../../services/auto-deploy.service.ts';

@ObjectType('AutoDeploy', { description: 'How pushes to an environment are noticed.', simpleResolvers: true })
export class AutoDeployType implements AutoDeployFacts {
  @Field(() => ID, { description: 'Of the environment.' })
  id!: string;

  @Field(() => Boolean)
  enabled!: boolean;

  @Field(() => AutoDeployMeans, { nullable: true })
  autoDeployBy!: AutoDeployMeans | null;

  @Field(() => [String])
  watchPaths!: string[];

  @Field(() => String, { nullable: true, description: 'Where the provider tells of pushes; null where nobody does.' })
  hookUrl!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'For a webhook that is set up by hand: shown when it is made, and never again.',
  })
  hookSecret!: string | null;

  @Field(() => String, { nullable: true, description: 'Why it is done in this way.' })
  reason!: string | null;

  @Field(() => Int, { description: 'Of the environment.' })
  version!: number;
}
