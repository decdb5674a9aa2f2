import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { TokenScope } from '../entities/api-token.ts';
import { Environment } from '../entities/environment.ts';
import { Run } from '../entities/run.ts';
import { Server } from '../entities/server.ts';
import { Role } from '../entities/user.ts';
import { Allow, AllowOwner, AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { NestedPageArgs } from '../schema/inputs/nested-page.inputs.ts';
import { ChangeArgs, IdArgs } from '../schema/inputs/page.inputs.ts';
import {
  CreateServerArgs,
  ServersArgs,
  TestConnectionArgs,
  TrustServerArgs,
  UpdateServerArgs,
} from '../schema/inputs/server.inputs.ts';
import { Raises } from '../schema/raises.ts';
import { opens } from '../schema/subscribe.ts';
import { Deleted } from '../schema/types/auth.types.ts';
import { ConnectionMessageType } from '../schema/types/server.types.ts';

@Resolver(() => Server)
export class ServerResolver {
  @AllowOwner()
  @Raises('FINGERPRINT_REQUIRED')
  @Mutation(() => Server, {
    nullable: true,
    description: 'Adds a server; it is looked at by itself. Without a credential a key pair is made.',
  })
  createServer(@Args() wish: CreateServerArgs, @Ctx() { scope, services }: Context): Promise<Server> {
    return services.servers.create(scope, wish);
  }

  @AllowRead()
  @Query(() => [Server], { description: 'Servers of the workspace.' })
  servers(@Args() { limit, after, status }: ServersArgs, @Ctx() { scope, services }: Context): Promise<Row<Server>[]> {
    return services.servers.list(scope, status, { limit, after });
  }

  @AllowRead()
  @Query(() => Server, { nullable: true, description: 'One server.' })
  server(@Args() { id }: IdArgs, @Ctx() { scope, services }: Context): Promise<Row<Server>> {
    return services.servers.get(scope, id);
  }

  @AllowOwner()
  @Raises('FINGERPRINT_REQUIRED', 'CREDENTIAL_REJECTED', 'SERVER_UNTRUSTED', 'SERVER_UNREACHABLE')
  @Mutation(() => Server, {
    nullable: true,
    description: 'Changes what is sent; another address, user or credential is tried before it replaces the old.',
  })
  updateServer(@Args() { id, ...change }: UpdateServerArgs, @Ctx() { scope, services }: Context): Promise<Server> {
    return services.servers.update(scope, id, change);
  }

  @AllowOwner()
  @Raises('SERVER_UNREACHABLE')
  @Mutation(() => Server, {
    nullable: true,
    description: 'Trusts the host key that the server shows now: the way out of UNTRUSTED.',
  })
  trustServer(
    @Args() { id, hostKeyFingerprint, ifVersion }: TrustServerArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Server> {
    return services.servers.trust(scope, id, hostKeyFingerprint, ifVersion);
  }

  @Allow(Role.MEMBER, TokenScope.write)
  @Raises('SERVER_UNTRUSTED')
  @Mutation(() => Run, {
    nullable: true,
    description: "Installs Docker from the distribution's packages where it is missing. Watch the run.",
  })
  installDocker(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Run> {
    return services.dockerInstall.install(scope, id, ifVersion);
  }

  @AllowOwner()
  @Raises('IN_USE')
  @Mutation(() => Deleted, { nullable: true, description: 'Forgets a server; nothing on it is touched.' })
  deleteServer(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Deleted> {
    return services.servers.delete(scope, id, ifVersion);
  }

  @Allow(Role.MEMBER, TokenScope.write)
  @Raises('NOT_FOUND')
  @Subscription(() => ConnectionMessageType, {
    description: 'Tries to reach a server, step by step; of a step that fails it says what to do about it.',
    subscribe: opens(TestConnectionArgs, ({ services, scope }, wish) => services.serverTests.open(scope, wish)),
  })
  testConnection(@Root() message: ConnectionMessageType, @Args() _: TestConnectionArgs): ConnectionMessageType {
    return message;
  }

  @FieldResolver(() => [Environment])
  environments(
    @Root() { id }: Server,
    @Args() { limit }: NestedPageArgs,
    @Ctx() { loaders }: Context,
  ): Promise<Row<Environment>[]> {
    return loaders.environmentsOn(id, limit);
  }
}
