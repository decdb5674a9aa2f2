import { Max, Min } from 'class-validator';
import { ArgsType, Field, Int } from 'type-graphql';

/** A list inside another: short unless asked for more. */
@ArgsType()
export class NestedPageArgs {
  @Field(() => Int, { nullable: true, defaultValue: 10, description: 'How many, at most 100.' })
  @Min(1)
  @Max(100)
  limit: number = 10;
}
