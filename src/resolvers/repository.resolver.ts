import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { GitProvider } from '../entities/git-provider.ts';
import type { Context } from '../schema/context.ts';
import { Repository } from '../schema/types/project.types.ts';

@Resolver(() => Repository)
export class RepositoryResolver {
  @FieldResolver(() => GitProvider, { nullable: true, description: 'The account it was found by.' })
  gitProvider(@Root() { gitProviderId }: Repository, @Ctx() { loaders }: Context): Promise<Row<GitProvider> | null> {
    return loaders.gitProvider(gitProviderId);
  }
}
