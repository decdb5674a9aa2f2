import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { TokenScope } from '../entities/api-token.ts';
import { GitProvider } from '../entities/git-provider.ts';
import { Role } from '../entities/user.ts';
import { Allow, AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import {
  BranchesArgs,
  DeleteGitProviderArgs,
  RepositoriesArgs,
  SaveTokenArgs,
} from '../schema/inputs/git-provider.inputs.ts';
import { PageArgs } from '../schema/inputs/page.inputs.ts';
import { Raises } from '../schema/raises.ts';
import { Deleted } from '../schema/types/auth.types.ts';
import { Branch, Repository } from '../schema/types/project.types.ts';

@Resolver()
export class GitProviderResolver {
  @Allow(Role.MEMBER, TokenScope.write)
  @Raises('TOKEN_REJECTED', 'REPOSITORY_NOT_FOUND', 'UPSTREAM_FAILED')
  @Mutation(() => GitProvider, {
    nullable: true,
    description: 'Connects a Git account; the token is tried first and never comes back.',
  })
  saveGitToken(@Args() wish: SaveTokenArgs, @Ctx() { scope, services }: Context): Promise<GitProvider> {
    return services.gitProviders.saveToken(scope, wish);
  }

  @AllowRead()
  @Query(() => [GitProvider], { description: 'Connected Git accounts.' })
  gitProviders(@Args() page: PageArgs, @Ctx() { scope, services }: Context): Promise<Row<GitProvider>[]> {
    return services.gitProviders.list(scope, page);
  }

  @AllowRead()
  @Raises('NOT_FOUND')
  @Query(() => [Repository], { description: 'Searches the repositories of all connected accounts at once.' })
  repositories(@Args() wish: RepositoriesArgs, @Ctx() { scope, services }: Context): Promise<Repository[]> {
    return services.repositorySearch.search(scope, wish);
  }

  @AllowRead()
  @Raises('REPOSITORY_NOT_FOUND', 'TOKEN_REJECTED', 'UPSTREAM_FAILED')
  @Query(() => [Branch], { description: 'Branches of a repository.' })
  branches(
    @Args() { providerId, repo, limit, after }: BranchesArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Branch[]> {
    return services.gitProviders.branches(scope, providerId, repo, { limit, after });
  }

  @Allow(Role.MEMBER, TokenScope.write)
  @Raises('IN_USE')
  @Mutation(() => Deleted, { nullable: true, description: 'Disconnects a Git account.' })
  deleteGitProvider(
    @Args() { id, force, ifVersion }: DeleteGitProviderArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Deleted> {
    return services.gitProviders.delete(scope, id, force, ifVersion);
  }
}
