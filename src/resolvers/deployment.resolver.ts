import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { TokenScope } from '../entities/api-token.ts';
import { Deployment } from '../entities/deployment.ts';
import { DeploymentMessage } from '../entities/deployment-message.ts';
import { Environment } from '../entities/environment.ts';
import { Project } from '../entities/project.ts';
import { Server } from '../entities/server.ts';
import { Role } from '../entities/user.ts';
import { Allow, AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import {
  CreateDeploymentArgs,
  DeploymentArgs,
  DeploymentKeyArgs,
  DeploymentLogsArgs,
  DeploymentStatusArgs,
  DeploymentsArgs,
  EnvironmentDeploymentsArgs,
  RollbackDeploymentArgs,
  RollbackVariables,
} from '../schema/inputs/deployment.inputs.ts';
import { Raises } from '../schema/raises.ts';
import { opens } from '../schema/subscribe.ts';

@Resolver(() => Deployment)
export class DeploymentResolver {
  @AllowRead({ inProject: true })
  @Query(() => [Deployment], { description: 'Deployments of the workspace.' })
  deployments(
    @Args() { limit, after, ...filter }: DeploymentsArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Row<Deployment>[]> {
    return services.deployments.list(scope, filter, { limit, after });
  }

  @AllowRead({ inProject: true })
  @Raises('NOT_FOUND')
  @Query(() => [Deployment], { description: 'The history of an environment.' })
  environmentDeployments(
    @Args() { limit, after, environmentId, status }: EnvironmentDeploymentsArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Row<Deployment>[]> {
    return services.deployments.history(scope, environmentId, { status }, { limit, after });
  }

  @AllowRead({ inProject: true })
  @Query(() => Deployment, { nullable: true, description: 'One deployment, at once or when it is finished.' })
  deployment(@Args() { wait, ...key }: DeploymentArgs, @Ctx() { scope, services }: Context): Promise<Row<Deployment>> {
    return services.deployments.get(scope, key, wait);
  }

  @AllowRead({ inProject: true })
  @Raises('CURSOR_TOO_OLD')
  @Query(() => [DeploymentMessage], { description: 'The log of a deployment, from its beginning.' })
  deploymentLogs(
    @Args() { limit, after, ...key }: DeploymentLogsArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Row<DeploymentMessage>[]> {
    return services.deploymentLogs.list(scope, key, { limit, after: after ?? null });
  }

  @Allow(Role.MEMBER, TokenScope.deploy, { inProject: true })
  @Raises('NO_SERVER', 'ANALYSIS_RUNNING', 'NOT_ANALYZED', 'BEING_DELETED')
  @Mutation(() => Deployment, {
    nullable: true,
    description:
      'Deploys the newest commit of the branch, or another one. One that waits already for the same is answered.',
  })
  createDeployment(@Args() wish: CreateDeploymentArgs, @Ctx() { scope, services }: Context): Promise<Deployment> {
    return services.deployments.create(scope, wish);
  }

  @Allow(Role.MEMBER, TokenScope.deploy, { inProject: true })
  @Raises('DEPLOYMENT_FINISHED')
  @Mutation(() => Deployment, {
    nullable: true,
    description: 'Ends a deployment. It is CANCELLED when nothing of it runs on the server any more.',
  })
  cancelDeployment(@Args() key: DeploymentKeyArgs, @Ctx() { scope, services }: Context): Promise<Deployment> {
    return services.deployments.cancel(scope, key);
  }

  @Allow(Role.MEMBER, TokenScope.deploy, { inProject: true })
  @Raises('NOT_DEPLOYED', 'RELEASE_GONE', 'CONFLICT', 'NO_SERVER', 'BEING_DELETED')
  @Mutation(() => Deployment, {
    nullable: true,
    description: 'Brings a release back that was live: its image, without a build, and its variables.',
  })
  rollbackDeployment(
    @Args() { variables, ...key }: RollbackDeploymentArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Deployment> {
    const usesCurrentVariables = variables === RollbackVariables.CURRENT;
    return services.deployments.rollBack(scope, { ...key, usesCurrentVariables });
  }

  @AllowRead({ inProject: true })
  @Subscription(() => DeploymentMessage, {
    description: 'The states of a deployment and the lines of its log, from its beginning to its end.',
    subscribe: opens(DeploymentStatusArgs, ({ services, scope }, wish) => services.deploymentLogs.open(scope, wish)),
  })
  deploymentStatus(@Root() message: DeploymentMessage, @Args() _: DeploymentStatusArgs): DeploymentMessage {
    return message;
  }

  @FieldResolver(() => Project, { nullable: true })
  project(@Root() { projectId }: Deployment, @Ctx() { loaders }: Context): Promise<Row<Project> | null> {
    return loaders.project(projectId);
  }

  @FieldResolver(() => Environment, { nullable: true })
  environment(@Root() { environmentId }: Deployment, @Ctx() { loaders }: Context): Promise<Row<Environment> | null> {
    return loaders.environment(environmentId);
  }

  @FieldResolver(() => Server, { nullable: true })
  server(@Root() { serverId }: Deployment, @Ctx() { loaders }: Context): Promise<Row<Server> | null> {
    return loaders.server(serverId);
  }

  @FieldResolver(() => Deployment, { nullable: true, description: 'The deployment whose release it brings back.' })
  rollbackOfDeployment(
    @Root() { rollbackOf }: Deployment,
    @Ctx() { loaders }: Context,
  ): Promise<Row<Deployment> | null> {
    return loaders.deployment(rollbackOf);
  }

  @FieldResolver(() => Deployment, { nullable: true, description: 'The deployment that took its place.' })
  supersededByDeployment(
    @Root() { supersededBy }: Deployment,
    @Ctx() { loaders }: Context,
  ): Promise<Row<Deployment> | null> {
    return loaders.deployment(supersededBy);
  }
}
