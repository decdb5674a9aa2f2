import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { ApiToken } from '../entities/api-token.ts';
import { Environment } from '../entities/environment.ts';
import { Project } from '../entities/project.ts';
import { AllowPerson } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { CreateApiTokenArgs } from '../schema/inputs/auth.inputs.ts';
import { ChangeArgs, PageArgs } from '../schema/inputs/page.inputs.ts';
import { CreatedApiToken, Deleted } from '../schema/types/auth.types.ts';

@Resolver(() => ApiToken)
export class ApiTokenResolver {
  @AllowPerson()
  @Query(() => [ApiToken], { description: "One's own API tokens." })
  apiTokens(@Args() page: PageArgs, @Ctx() { scope, services }: Context): Promise<Row<ApiToken>[]> {
    return services.apiTokens.list(scope, page);
  }

  @AllowPerson()
  @Mutation(() => CreatedApiToken, { nullable: true, description: 'Makes an API token, shown this once.' })
  createApiToken(@Args() wish: CreateApiTokenArgs, @Ctx() { scope, services }: Context): Promise<CreatedApiToken> {
    return services.apiTokens.create(scope, wish);
  }

  @AllowPerson()
  @Mutation(() => Deleted, { nullable: true, description: 'Ends an API token at once.' })
  deleteApiToken(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Deleted> {
    return services.apiTokens.delete(scope, id, ifVersion);
  }

  @FieldResolver(() => Project, { nullable: true, description: 'The project it is bound to.' })
  project(@Root() { projectId }: ApiToken, @Ctx() { loaders }: Context): Promise<Row<Project> | null> {
    return loaders.project(projectId);
  }

  @FieldResolver(() => Environment, { nullable: true, description: 'The environment it is bound to.' })
  environment(@Root() { environmentId }: ApiToken, @Ctx() { loaders }: Context): Promise<Row<Environment> | null> {
    return loaders.environment(environmentId);
  }
}
