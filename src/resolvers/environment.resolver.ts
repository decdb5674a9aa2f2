import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { Deployment } from '../entities/deployment.ts';
import { Environment } from '../entities/environment.ts';
import { Project } from '../entities/project.ts';
import { Server } from '../entities/server.ts';
import type { Context } from '../schema/context.ts';

@Resolver(() => Environment)
export class EnvironmentResolver {
  @FieldResolver(() => Project, { nullable: true })
  project(@Root() { projectId }: Environment, @Ctx() { loaders }: Context): Promise<Row<Project> | null> {
    return loaders.project(projectId);
  }

  @FieldResolver(() => Server, { nullable: true, description: 'Where it runs.' })
  server(@Root() { serverId }: Environment, @Ctx() { loaders }: Context): Promise<Row<Server> | null> {
    return loaders.server(serverId);
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
