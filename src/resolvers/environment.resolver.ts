import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { TokenScope } from '../entities/api-token.ts';
import { Deployment } from '../entities/deployment.ts';
import { Environment } from '../entities/environment.ts';
import { Project } from '../entities/project.ts';
import { Server } from '../entities/server.ts';
import { Role } from '../entities/user.ts';
import { Variable } from '../entities/variable.ts';
import { Allow, AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import {
  CreateEnvironmentArgs,
  DeleteDomainArgs,
  EnvironmentsArgs,
  MoveEnvironmentArgs,
  SetBranchArgs,
  SetDomainArgs,
  SetServicesArgs,
  UpdateEnvironmentArgs,
} from '../schema/inputs/environment.inputs.ts';
import { NestedPageArgs } from '../schema/inputs/nested-page.inputs.ts';
import { IdArgs } from '../schema/inputs/page.inputs.ts';
import { Raises } from '../schema/raises.ts';
import { Deleted } from '../schema/types/auth.types.ts';

/** Whether there is such a branch only the provider knows. */
const ASKING_GIT = [
  'BRANCH_NOT_FOUND',
  'REPOSITORY_NOT_FOUND',
  'TOKEN_REJECTED',
  'UPSTREAM_FAILED',
  'BEING_DELETED',
] as const;

@Resolver(() => Environment)
export class EnvironmentResolver {
  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('ANALYSIS_RUNNING', 'NOT_ANALYZED', 'NAME_TAKEN', 'BEING_DELETED')
  @Mutation(() => Environment, {
    nullable: true,
    description: 'Makes an environment of a project: a branch that is to run on a server.',
  })
  createEnvironment(@Args() wish: CreateEnvironmentArgs, @Ctx() { scope, services }: Context): Promise<Environment> {
    return services.environments.create(scope, wish);
  }

  @AllowRead({ inProject: true })
  @Query(() => [Environment], { description: 'Environments of the workspace, or of one project.' })
  environments(
    @Args() { limit, after, ...filter }: EnvironmentsArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Row<Environment>[]> {
    return services.environments.list(scope, filter, { limit, after });
  }

  @AllowRead({ inProject: true })
  @Query(() => Environment, { nullable: true, description: 'One environment.' })
  environment(@Args() { id }: IdArgs, @Ctx() { scope, services }: Context): Promise<Row<Environment>> {
    return services.environments.get(scope, id);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('NAME_TAKEN', 'DEPLOYMENT_RUNNING', ...ASKING_GIT)
  @Mutation(() => Environment, {
    nullable: true,
    description: 'Changes what is sent, all of it or nothing; what is live is moved to another server by a deployment.',
  })
  updateEnvironment(
    @Args() { id, ...change }: UpdateEnvironmentArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Environment> {
    return services.environments.update(scope, id, change);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises(...ASKING_GIT)
  @Mutation(() => Environment, {
    nullable: true,
    description: 'Follows another branch, which must exist, from the next deployment on.',
  })
  setEnvironmentBranch(
    @Args() { id, ...change }: SetBranchArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Environment> {
    return services.environments.update(scope, id, change);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('DEPLOYMENT_RUNNING', 'BEING_DELETED')
  @Mutation(() => Environment, {
    nullable: true,
    description: 'Puts it on another server. What is live is deployed there first, and then removed from the old one.',
  })
  moveEnvironment(
    @Args() { id, ...wish }: MoveEnvironmentArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Environment> {
    return services.environmentMoves.move(scope, id, wish);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('CONFIRMATION_NEEDED', 'BEING_DELETED')
  @Mutation(() => Environment, {
    nullable: true,
    description: 'Says which databases and the like it wants beside it: the whole list.',
  })
  setEnvironmentServices(
    @Args() { id, ...wish }: SetServicesArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Environment> {
    return services.environmentServices.set(scope, id, wish);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('NAME_TAKEN', 'BEING_DELETED')
  @Mutation(() => Environment, {
    nullable: true,
    description: 'Gives it a name to answer by, or changes how one is served that it has.',
  })
  setEnvironmentDomain(
    @Args() { id, ...wish }: SetDomainArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Environment> {
    return services.environmentDomains.set(scope, id, wish);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('BEING_DELETED')
  @Mutation(() => Deleted, { nullable: true, description: 'Takes a name away from it.' })
  deleteEnvironmentDomain(
    @Args() { id, hostname, ifVersion }: DeleteDomainArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Deleted> {
    return services.environmentDomains.remove(scope, id, hostname, ifVersion);
  }

  @FieldResolver(() => [Variable])
  variables(
    @Root() { id }: Environment,
    @Args() { limit }: NestedPageArgs,
    @Ctx() { loaders }: Context,
  ): Promise<Row<Variable>[]> {
    return loaders.variablesOf(id, limit);
  }

  @FieldResolver(() => Project, { nullable: true })
  project(@Root() { projectId }: Environment, @Ctx() { loaders }: Context): Promise<Row<Project> | null> {
    return loaders.project(projectId);
  }

  @FieldResolver(() => Server, { nullable: true, description: 'Where it runs.' })
  server(@Root() { serverId }: Environment, @Ctx() { loaders }: Context): Promise<Row<Server> | null> {
    return loaders.server(serverId);
  }

  @FieldResolver(() => [Deployment], { description: 'The last attempts, the newest first.' })
  deployments(
    @Root() { id }: Environment,
    @Args() { limit }: NestedPageArgs,
    @Ctx() { loaders }: Context,
  ): Promise<Row<Deployment>[]> {
    return loaders.deploymentsOf(id, limit);
  }

  @FieldResolver(() => Deployment, { nullable: true, description: 'What serves now.' })
  currentDeployment(
    @Root() { currentDeploymentId }: Environment,
    @Ctx() { loaders }: Context,
  ): Promise<Row<Deployment> | null> {
    return loaders.deployment(currentDeploymentId);
  }

  @FieldResolver(() => Deployment, { nullable: true, description: 'The last attempt, whatever became of it.' })
  latestDeployment(
    @Root() { latestDeploymentId }: Environment,
    @Ctx() { loaders }: Context,
  ): Promise<Row<Deployment> | null> {
    return loaders.deployment(latestDeploymentId);
  }
}
