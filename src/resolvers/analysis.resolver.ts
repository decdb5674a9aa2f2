import { Args, Resolver, Root, Subscription } from 'type-graphql';
import { AnalysisProgress } from '../entities/analysis.ts';
import { AllowRead } from '../schema/authorize.ts';
import { AnalysisStatusArgs } from '../schema/inputs/record.inputs.ts';
import { opens } from '../schema/subscribe.ts';

@Resolver()
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
}
