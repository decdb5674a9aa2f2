import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { TokenScope } from '../entities/api-token.ts';
import { Deployment } from '../entities/deployment.ts';
import { Environment } from '../entities/environment.ts';
import { HookDelivery } from '../entities/hook-delivery.ts';
import { Project } from '../entities/project.ts';
import { Role } from '../entities/user.ts';
import { Allow, AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { HookDeliveriesArgs, RedeliverHookArgs, SetAutoDeployArgs } from '../schema/inputs/auto-deploy.inputs.ts';
import { Raises } from '../schema/raises.ts';
import { AutoDeployType } from '../schema/types/auto-deploy.types.ts';

@Resolver(() => HookDelivery)
export class AutoDeployResolver {
  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('BEING_DELETED', 'REPOSITORY_NOT_FOUND', 'TOKEN_REJECTED', 'UPSTREAM_FAILED')
  @Mutation(() => AutoDeployType, {
    nullable: true,
    description:
      'Deploys each push from now on, or no longer. Registers the webhook at the provider, answers what is needed to set it up by hand, or looks at the branch every minute.',
  })
  setAutoDeploy(
    @Args() { id, ...wish }: SetAutoDeployArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<AutoDeployType> {
    return services.autoDeploy.change(scope, id, wish);
  }

  @AllowRead({ inProject: true })
  @Query(() => [HookDelivery], {
    description: 'Pushes that an environment was told of or that were found, and what came of them.',
  })
  hookDeliveries(
    @Args() { id, limit, after }: HookDeliveriesArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Row<HookDelivery>[]> {
    return services.hooks.list(scope, id, { limit, after });
  }

  @Allow(Role.MEMBER, TokenScope.deploy, { inProject: true })
  @Mutation(() => HookDelivery, {
    nullable: true,
    description: 'Decides anew about a push, by what is known of it and by how the environment is set up now.',
  })
  redeliverHook(
    @Args() { id, deliveryId }: RedeliverHookArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<HookDelivery> {
    return services.hooks.redeliver(scope, id, deliveryId);
  }

  @FieldResolver(() => Project, { nullable: true })
  project(@Root() { projectId }: HookDelivery, @Ctx() { loaders }: Context): Promise<Row<Project> | null> {
    return loaders.project(projectId);
  }

  @FieldResolver(() => Environment, { nullable: true })
  environment(@Root() { environmentId }: HookDelivery, @Ctx() { loaders }: Context): Promise<Row<Environment> | null> {
    return loaders.environment(environmentId);
  }

  @FieldResolver(() => Deployment, { nullable: true, description: 'What was queued for it.' })
  deployment(@Root() { deploymentId }: HookDelivery, @Ctx() { loaders }: Context): Promise<Row<Deployment> | null> {
    return loaders.deployment(deploymentId);
  }
}
