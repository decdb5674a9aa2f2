import { Args, Ctx, FieldResolver, Resolver, Root, Subscription } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { Analysis, AnalysisProgress } from '../entities/analysis.ts';
import { Project } from '../entities/project.ts';
import { AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { AnalysisStatusArgs } from '../schema/inputs/record.inputs.ts';
import { opens } from '../schema/subscribe.ts';

@Resolver(() => Analysis)
export class AnalysisResolver {
  @AllowRead({ inProject: true })
  @Subscription(() => AnalysisProgress, {
    description: "The steps of the project's latest analysis, from its beginning to its end.",
    subscribe: opens(AnalysisStatusArgs, ({ services, scope }, { id, after }) =>
      services.analyses.open(scope, id, after),
    ),
  })
  analysisStatus(@Root() progress: AnalysisProgress, @Args() _: AnalysisStatusArgs): AnalysisProgress {
    return progress;
  }

  @FieldResolver(() => Project, { nullable: true })
  project(@Root() { projectId }: Analysis, @Ctx() { loaders }: Context): Promise<Row<Project> | null> {
    return loaders.project(projectId);
  }
}
