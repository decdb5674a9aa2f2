import { Args, Ctx, Mutation, Resolver } from 'type-graphql';
import { TokenScope } from '../entities/api-token.ts';
import { Run, RunKind } from '../entities/run.ts';
import { Role } from '../entities/user.ts';
import { Allow } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { ChangeArgs, DeletionArgs } from '../schema/inputs/page.inputs.ts';
import { Raises } from '../schema/raises.ts';

/** What is done with a running application besides deploying it. */
@Resolver()
export class EnvironmentPowerResolver {
  @Allow(Role.MEMBER, TokenScope.deploy, { inProject: true })
  @Raises('NOT_DEPLOYED', 'DEPLOYMENT_RUNNING', 'BEING_DELETED')
  @Mutation(() => Run, { nullable: true, description: 'Starts what serves anew. Watch the run.' })
  restartEnvironment(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Run> {
    return services.environmentPower.ask(scope, RunKind.RESTART_ENVIRONMENT, id, ifVersion);
  }

  @Allow(Role.MEMBER, TokenScope.deploy, { inProject: true })
  @Raises('NOT_DEPLOYED', 'DEPLOYMENT_RUNNING', 'BEING_DELETED')
  @Mutation(() => Run, { nullable: true, description: 'Stops what serves, until it is started or deployed again.' })
  stopEnvironment(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Run> {
    return services.environmentPower.ask(scope, RunKind.STOP_ENVIRONMENT, id, ifVersion);
  }

  @Allow(Role.MEMBER, TokenScope.deploy, { inProject: true })
  @Raises('NOT_DEPLOYED', 'DEPLOYMENT_RUNNING', 'BEING_DELETED')
  @Mutation(() => Run, { nullable: true, description: 'Starts what was stopped. Watch the run.' })
  startEnvironment(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Run> {
    return services.environmentPower.ask(scope, RunKind.START_ENVIRONMENT, id, ifVersion);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('DEPLOYMENT_RUNNING', 'BEING_DELETED', 'CONFIRMATION_NEEDED')
  @Mutation(() => Run, {
    nullable: true,
    description: 'Removes it from its server, then for good; volumes stay unless told otherwise. Watch the run.',
  })
  deleteEnvironment(@Args() { id, ...wish }: DeletionArgs, @Ctx() { scope, services }: Context): Promise<Run> {
    return services.environmentDeletion.delete(scope, id, wish);
  }
}
