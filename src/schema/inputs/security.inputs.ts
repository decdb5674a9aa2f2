import { ArrayMaxSize, IsArray, IsBoolean, IsInt, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { ArgsType, Field, Int } from 'type-graphql';
import type { HardenWish } from '../../services/server-security.service.ts';
import { Omittable } from './absence.ts';
import { ChangeArgs } from './page.inputs.ts';

@ArgsType()
export class HardenServerArgs extends ChangeArgs implements HardenWish {
  @Field(() => [String], { nullable: true, description: 'Ids of checks to mend; all that can be, if absent.' })
  @Omittable()
  @IsArray()
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @MaxLength(64, { each: true })
  checks?: string[];

  @Field(() => [Int], { nullable: true, description: 'Ports to keep reachable, besides SSH, 80 and 443.' })
  @Omittable()
  @IsArray()
  @ArrayMaxSize(100)
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(65_535, { each: true })
  allowPorts?: number[];

  @Field(() => Boolean, { nullable: true, description: 'Only tell what would be done.' })
  @Omittable()
  @IsBoolean()
  dryRun?: boolean;

  @Field(() => String, { nullable: true, description: 'Of a dry run: refused if the server changed since.' })
  @Omittable()
  @Matches(/^[0-9a-f]{32}$/, { message: 'planId must be one that a dry run answered' })
  planId?: string;
}
