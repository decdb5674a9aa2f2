import { Args, Ctx, Query, Resolver, Root, Subscription } from 'type-graphql';
import { AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { RuntimeLogsArgs } from '../schema/inputs/runtime.inputs.ts';
import { Raises } from '../schema/raises.ts';
import { opens } from '../schema/subscribe.ts';
import { RuntimeLineType } from '../schema/types/runtime.types.ts';

@Resolver(() => RuntimeLineType)
export class RuntimeResolver {
  @AllowRead({ inProject: true })
  @Raises('NOT_DEPLOYED', 'SERVER_UNREACHABLE', 'SERVER_UNTRUSTED', 'CREDENTIAL_REJECTED', 'UPSTREAM_FAILED')
  @Query(() => [RuntimeLineType], {
    description: 'What the running application printed last, without its secrets.',
  })
  runtimeLogs(
    @Args() { id, ...wish }: RuntimeLogsArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<RuntimeLineType[]> {
    return services.runtimeLogs.list(scope, id, wish);
  }

  @AllowRead({ inProject: true })
  @Raises('NOT_DEPLOYED', 'SERVER_UNREACHABLE', 'SERVER_UNTRUSTED', 'CREDENTIAL_REJECTED', 'UPSTREAM_FAILED')
  @Subscription(() => RuntimeLineType, {
    name: 'runtimeLogs',
    description:
      'What the running application prints, as it prints it, over releases. It is not stored: resume by `since`.',
    subscribe: opens(RuntimeLogsArgs, ({ services, scope }, { id, ...wish }) =>
      services.runtimeLogs.open(scope, id, wish),
    ),
  })
  followRuntimeLogs(@Root() line: RuntimeLineType, @Args() _: RuntimeLogsArgs): RuntimeLineType {
    return line;
  }
}
