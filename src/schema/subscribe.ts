import { validate } from 'class-validator';
import { ArgumentValidationError, type SubscribeResolverData } from 'type-graphql';
import type { Context } from './context.ts';

type Open<Args> = (context: Context, args: Args) => Promise<AsyncIterable<unknown>>;

/**
 * What a subscription gives as `subscribe`. TypeGraphQL checks the arguments when the first message is resolved, which is after
 * the stream has opened; here they are checked before.
 */
export const opens =
  <Args extends object>(ArgsClass: new () => Args, open: Open<Args>) =>
  async ({ args, context }: SubscribeResolverData<unknown, Args, Context>): Promise<AsyncIterable<unknown>> => {
    const given = Object.assign(new ArgsClass(), args);
    const faults = await validate(given, { forbidUnknownValues: false, stopAtFirstError: true });
    if (faults.length > 0) throw new ArgumentValidationError(faults);
    return open(context, given);
  };
