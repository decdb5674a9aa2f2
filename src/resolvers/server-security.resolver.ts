import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { TokenScope } from '../entities/api-token.ts';
import { Run } from '../entities/run.ts';
import { SecurityLook } from '../entities/security.ts';
import { Role } from '../entities/user.ts';
import { Allow, AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { ChangeArgs, IdArgs } from '../schema/inputs/page.inputs.ts';
import { HardenServerArgs } from '../schema/inputs/security.inputs.ts';
import { Raises } from '../schema/raises.ts';
import { Hardening } from '../schema/types/security.types.ts';

@Resolver()
export class ServerSecurityResolver {
  @AllowRead()
  @Query(() => SecurityLook, { nullable: true, description: 'The last look at the security of a server.' })
  securityLook(@Args() { id }: IdArgs, @Ctx() { scope, services }: Context): Promise<SecurityLook> {
    return services.serverSecurity.get(scope, id);
  }

  @Allow(Role.MEMBER, TokenScope.write)
  @Raises('SERVER_UNTRUSTED')
  @Mutation(() => Run, { nullable: true, description: 'Looks at the security of a server now. Watch the run.' })
  checkServerSecurity(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Run> {
    return services.serverSecurity.check(scope, id, ifVersion);
  }

  @Allow(Role.MEMBER, TokenScope.write)
  @Raises(
    'UNSUPPORTED_OS',
    'PLAN_OUTDATED',
    'CONFLICT',
    'SERVER_UNTRUSTED',
    'SERVER_UNREACHABLE',
    'CREDENTIAL_REJECTED',
    'UPSTREAM_FAILED',
  )
  @Mutation(() => Hardening, {
    nullable: true,
    description: 'Hardens a server, or tells what that would do. It cannot shut us out: watch the run.',
  })
  hardenServer(@Args() { id, ...wish }: HardenServerArgs, @Ctx() { scope, services }: Context): Promise<Hardening> {
    return services.serverSecurity.harden(scope, id, wish);
  }
}
