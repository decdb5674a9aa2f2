import { Args, Resolver, Root, type SubscribeResolverData, Subscription } from 'type-graphql';
import { AnalysisProgress } from '../entities/analysis.ts';
import { AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { AnalysisStatusArgs } from '../schema/inputs/record.inputs.ts';

@Resolver()
export class AnalysisResolver {
  @AllowRead({ inProject: true })
  @Subscription(() => AnalysisProgress, {
    description: "The steps of the project's latest analysis, from its beginning to its end.",
    subscribe: ({ args, context }: SubscribeResolverData<unknown, AnalysisStatusArgs, Context>) =>
      context.services.analyses.open(context.scope, args.id, args.after),
  })
  analysisStatus(@Root() progress: AnalysisProgress, @Args() _: AnalysisStatusArgs): AnalysisProgress {
    return progress;
  }
}
