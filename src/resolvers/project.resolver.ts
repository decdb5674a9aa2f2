import { Args, Ctx, Extensions, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { AnalysisResult } from '../analysis/analysis-result.ts';
import type { Row } from '../database/rows.ts';
import { Analysis, AnalysisResultType } from '../entities/analysis.ts';
import { TokenScope } from '../entities/api-token.ts';
import { Environment } from '../entities/environment.ts';
import { GitProvider } from '../entities/git-provider.ts';
import { Project } from '../entities/project.ts';
import { Run } from '../entities/run.ts';
import { Role } from '../entities/user.ts';
import { Allow, AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { NestedPageArgs } from '../schema/inputs/nested-page.inputs.ts';
import { ChangeArgs, DeletionArgs, IdArgs } from '../schema/inputs/page.inputs.ts';
import {
  CreateProjectArgs,
  FinalizeProjectArgs,
  ProjectsArgs,
  RepositoryArgs,
  UpdateProjectArgs,
} from '../schema/inputs/project.inputs.ts';
import { Raises } from '../schema/raises.ts';
import { embedded } from '../schema/types/embedded.ts';
import { FinalizedProject } from '../schema/types/project.types.ts';

@Resolver(() => Project)
export class ProjectResolver {
  @Allow(Role.MEMBER, TokenScope.write)
  @Mutation(() => Project, {
    nullable: true,
    description: 'Makes a project of a repository; its analysis starts by itself.',
  })
  createProject(@Args() wish: CreateProjectArgs, @Ctx() { scope, services }: Context): Promise<Project> {
    return services.projects.create(scope, wish);
  }

  @AllowRead({ inProject: true })
  @Query(() => [Project], { description: 'Projects of the workspace.' })
  projects(
    @Args() { limit, after, status }: ProjectsArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Row<Project>[]> {
    return services.projects.list(scope, { status }, { limit, after });
  }

  @AllowRead({ inProject: true })
  @Query(() => Project, { nullable: true, description: 'One project, with its latest analysis.' })
  project(@Args() { id }: IdArgs, @Ctx() { scope, services }: Context): Promise<Row<Project>> {
    return services.projects.get(scope, id);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('BEING_DELETED')
  @Mutation(() => Project, {
    nullable: true,
    description: 'Changes what is sent; another branch or folder is analysed anew.',
  })
  updateProject(@Args() { id, ...change }: UpdateProjectArgs, @Ctx() { scope, services }: Context): Promise<Project> {
    return services.projects.update(scope, id, change);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('BEING_DELETED', 'DEPLOYMENT_RUNNING', 'CONFIRMATION_NEEDED')
  @Mutation(() => Run, {
    nullable: true,
    description: 'Removes what runs on servers, then the project. Watch the run.',
  })
  deleteProject(@Args() { id, ...wish }: DeletionArgs, @Ctx() { scope, services }: Context): Promise<Run> {
    return services.projects.delete(scope, id, wish);
  }

  @AllowRead()
  @Raises(
    'NOT_FOUND',
    'REPOSITORY_NOT_FOUND',
    'BRANCH_NOT_FOUND',
    'REPOSITORY_TOO_LARGE',
    'TOKEN_REJECTED',
    'UPSTREAM_FAILED',
  )
  @Query(() => AnalysisResultType, {
    nullable: true,
    description: 'Analyses a repository while you wait; nothing is stored.',
  })
  analyzeRepo(@Args() wish: RepositoryArgs, @Ctx() { scope, services }: Context): Promise<AnalysisResult> {
    return services.analyses.analyzeNow(scope, wish);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('ALREADY_FINALIZED', 'ANALYSIS_RUNNING', 'NOT_ANALYZED', 'NAME_TAKEN', 'NO_SERVER', 'BEING_DELETED')
  @Mutation(() => FinalizedProject, {
    nullable: true,
    description: 'Makes an analysed project ready, with its first environment: all or nothing.',
  })
  finalizeProject(
    @Args() { id, ...wish }: FinalizeProjectArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<FinalizedProject> {
    return services.finalize.finalize(scope, id, wish);
  }

  @Allow(Role.MEMBER, TokenScope.write, { inProject: true })
  @Raises('ANALYSIS_RUNNING', 'BEING_DELETED')
  @Mutation(() => Analysis, { nullable: true, description: 'Analyses the repository anew.' })
  retryAnalysis(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Analysis> {
    return services.projects.retryAnalysis(scope, id, ifVersion);
  }

  @Extensions(embedded)
  @FieldResolver(() => Analysis, { nullable: true, description: 'The latest analysis.' })
  analysis(@Root() { analysisId }: Project, @Ctx() { loaders }: Context): Promise<Row<Analysis> | null> {
    return loaders.analysis(analysisId);
  }

  @FieldResolver(() => GitProvider, { nullable: true })
  gitProvider(@Root() { gitProviderId }: Project, @Ctx() { loaders }: Context): Promise<Row<GitProvider> | null> {
    return loaders.gitProvider(gitProviderId);
  }

  @FieldResolver(() => [Environment])
  environments(
    @Root() { id }: Project,
    @Args() { limit }: NestedPageArgs,
    @Ctx() { loaders }: Context,
  ): Promise<Row<Environment>[]> {
    return loaders.environmentsOf(id, limit);
  }
}
