import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { TokenScope } from '../entities/api-token.ts';
import { Environment } from '../entities/environment.ts';
import { Project } from '../entities/project.ts';
import { Role } from '../entities/user.ts';
import { Variable } from '../entities/variable.ts';
import { Allow, AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { DeleteVariableArgs, SetVariablesArgs, VariablesArgs } from '../schema/inputs/variable.inputs.ts';
import { Raises } from '../schema/raises.ts';
import { Deleted } from '../schema/types/auth.types.ts';
import type { ShownVariable } from '../services/variable.service.ts';

@Resolver(() => Variable)
export class VariableResolver {
  @AllowRead({ inProject: true })
  @Query(() => [Variable], { description: 'Variables of an environment.' })
  variables(
    @Args() { id, limit, after }: VariablesArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Row<Variable>[]> {
    return services.variables.list(scope, id, { limit, after });
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('BEING_DELETED')
  @Mutation(() => [Variable], {
    description: 'Adds and overwrites variables by their keys, from a list or from the text of a .env file.',
  })
  setVariables(
    @Args() { id, ...wish }: SetVariablesArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<ShownVariable[]> {
    return services.variables.set(scope, id, wish);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('BEING_DELETED')
  @Mutation(() => Deleted, { nullable: true, description: 'Takes a variable away, from the next deployment on.' })
  deleteVariable(
    @Args() { id, key, ifVersion }: DeleteVariableArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Deleted> {
    return services.variables.delete(scope, id, key, ifVersion);
  }

  @FieldResolver(() => String, { nullable: true, description: 'Null for a secret, which never comes back.' })
  async value(@Root() variable: ShownVariable, @Ctx() { loaders, services }: Context): Promise<string | null> {
    const { id, secret, value } = variable;
    if (secret || value !== undefined) return secret ? null : value;
    const sealed = await loaders.sealedValue(id);
    return sealed === null ? null : services.variables.open(id, sealed);
  }

  @FieldResolver(() => Project, { nullable: true })
  project(@Root() { projectId }: Variable, @Ctx() { loaders }: Context): Promise<Row<Project> | null> {
    return loaders.project(projectId);
  }

  @FieldResolver(() => Environment, { nullable: true })
  environment(@Root() { environmentId }: Variable, @Ctx() { loaders }: Context): Promise<Row<Environment> | null> {
    return loaders.environment(environmentId);
  }
}
