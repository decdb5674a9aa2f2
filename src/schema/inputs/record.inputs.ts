import { IsArray, IsEnum, IsUUID, Length, Matches } from 'class-validator';
import { ArgsType, Field, ID } from 'type-graphql';
import { EventKind } from '../../entities/event.ts';
import { RunKind, RunStatus } from '../../entities/run.ts';
import { Clearable, Omittable } from './absence.ts';
import { PageArgs } from './page.inputs.ts';

@ArgsType()
export class AuditArgs extends PageArgs {
  @Field(() => ID, { nullable: true, description: 'Only what this account did.' })
  @Omittable()
  @IsUUID()
  actor?: string;

  @Field(() => String, { nullable: true, description: 'Only what was done to this resource, such as "User:<id>".' })
  @Omittable()
  @Matches(/^[A-Z][A-Za-z]{1,40}:[0-9a-f-]{36}$/, { message: 'resource must be a type and an id, such as "User:<id>"' })
  resource?: string;
}

@ArgsType()
export class RunsArgs extends PageArgs {
  @Field(() => RunKind, { nullable: true })
  @Omittable()
  @IsEnum(RunKind)
  kind?: RunKind;

  @Field(() => RunStatus, { nullable: true })
  @Omittable()
  @IsEnum(RunStatus)
  status?: RunStatus;
}

@ArgsType()
export class EventsArgs {
  @Field(() => [EventKind], { nullable: true, description: 'Only these kinds.' })
  @Clearable()
  @IsArray()
  @IsEnum(EventKind, { each: true })
  kinds?: EventKind[] | null;

  @Field(() => ID, { nullable: true, description: 'Only what belongs to this project.' })
  @Clearable()
  @IsUUID()
  projectId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Resume behind this event.' })
  @Clearable()
  @IsUUID()
  after?: string | null;
}

@ArgsType()
export class AnalysisStatusArgs {
  @Field(() => ID, { description: 'The project.' })
  @IsUUID()
  id!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Resume behind this message: its `seq`, or the id of its stream.',
  })
  @Clearable()
  @Length(1, 64)
  after?: string | null;
}
