import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { Deployment } from '../entities/deployment.ts';
import { Environment } from '../entities/environment.ts';
import { Project } from '../entities/project.ts';
import type { Context } from '../schema/context.ts';

@Resolver(() => Deployment)
export class DeploymentResolver {
  @FieldResolver(() => Project, { nullable: true })
  project(@Root() { projectId }: Deployment, @Ctx() { loaders }: Context): Promise<Row<Project> | null> {
    return loaders.project(projectId);
  }

  @FieldResolver(() => Environment, { nullable: true })
  environment(@Root() { environmentId }: Deployment, @Ctx() { loaders }: Context): Promise<Row<Environment> | null> {
    return loaders.environment(environmentId);
  }
}
