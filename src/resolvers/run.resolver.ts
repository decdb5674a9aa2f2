import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { TokenScope } from '../entities/api-token.ts';
import { Run } from '../entities/run.ts';
import { Role } from '../entities/user.ts';
import { Allow, AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { ChangeArgs, IdArgs } from '../schema/inputs/page.inputs.ts';
import { RunsArgs } from '../schema/inputs/record.inputs.ts';
import { Raises } from '../schema/raises.ts';

@Resolver(() => Run)
export class RunResolver {
  @AllowRead()
  @Query(() => [Run], { description: 'Long work of the workspace.' })
  runs(@Args() { limit, after, ...filter }: RunsArgs, @Ctx() { scope, services }: Context): Promise<Row<Run>[]> {
    return services.runs.list(scope, filter, { limit, after });
  }

  @AllowRead()
  @Query(() => Run, { nullable: true, description: 'One run, with its steps.' })
  run(@Args() { id }: IdArgs, @Ctx() { scope, services }: Context): Promise<Row<Run>> {
    return services.runs.get(scope, id);
  }

  @Allow(Role.MEMBER, TokenScope.write)
  @Raises('RUN_FINISHED')
  @Mutation(() => Run, {
    nullable: true,
    description: 'Cancels a run that has not begun, or the installation of Docker at any time.',
  })
  cancelRun(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Run> {
    return services.runs.cancel(scope, id, ifVersion);
  }
}
