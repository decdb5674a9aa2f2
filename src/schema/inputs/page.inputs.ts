import { IsBoolean, IsUUID, Max, MaxLength, Min } from 'class-validator';
import { ArgsType, Field, ID, Int } from 'type-graphql';
import { Clearable, Omittable } from './absence.ts';

/** The arguments of every list. */
@ArgsType()
export class PageArgs {
  @Field(() => Int, { nullable: true, defaultValue: 50, description: 'How many, at most 100.' })
  @Min(1)
  @Max(100)
  limit: number = 50;

  @Field(() => ID, { nullable: true, description: 'The id of the last item seen: the page after it.' })
  @Clearable()
  @IsUUID()
  after?: string | null;
}

/** The argument of everything that is found by its id. */
@ArgsType()
export class IdArgs {
  @Field(() => ID)
  @IsUUID()
  id!: string;
}

/** A change of one resource, refused if it is no longer at the version its caller knows. */
@ArgsType()
export class ChangeArgs extends IdArgs {
  @Field(() => Int, { nullable: true, description: 'Refuse with VERSION_MISMATCH unless it is still at this version.' })
  @Omittable()
  @Min(1)
  ifVersion?: number;
}

/** A deletion of what runs on servers and may have data there. */
@ArgsType()
export class DeletionArgs extends ChangeArgs {
  @Field(() => Boolean, { nullable: true, description: 'Volumes go too; else they stay on the server.' })
  @Omittable()
  @IsBoolean()
  deleteData?: boolean;

  @Field(() => String, { nullable: true, description: 'What is lost, by its slug: needed with deleteData.' })
  @Omittable()
  @MaxLength(200)
  confirm?: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Forget what is on servers that cannot be reached; the run lists it as leftBehind.',
  })
  @Omittable()
  @IsBoolean()
  force?: boolean;
}
