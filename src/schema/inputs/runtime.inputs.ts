import { IsDate, IsInt, Max, Min } from 'class-validator';
import { ArgsType, Field, Int } from 'type-graphql';
import { DateTime } from '../../entities/date-time.ts';
import type { RuntimeLogWish } from '../../services/runtime-log.service.ts';
import { Clearable } from './absence.ts';
import { IdArgs } from './page.inputs.ts';

@ArgsType()
export class RuntimeLogsArgs extends IdArgs implements RuntimeLogWish {
  @Field(() => Int, {
    nullable: true,
    description: 'So many of the last lines, at most 1000. Without it 100, or with `since` all that are newer.',
  })
  @Clearable()
  @IsInt()
  @Min(0)
  @Max(1000)
  tail?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Only lines from this moment on.' })
  @Clearable()
  @IsDate()
  since?: Date | null;
}
