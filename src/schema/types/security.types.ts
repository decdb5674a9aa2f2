import { Extensions, Field, ID, ObjectType } from 'type-graphql';
import { Run } from '../../entities/run.ts';
import { embedded } from './embedded.ts';

@ObjectType({ description: 'A part of a plan to harden a server.', simpleResolvers: true })
export class HardeningAction {
  @Field(() => String)
  name!: string;

  @Field(() => [String], { description: 'The checks it mends.' })
  checks!: string[];

  @Field(() => [String], { description: 'Exactly what is said to the server, as root.' })
  commands!: string[];
}

@ObjectType({ description: 'What hardening does to a server, and the run that does it.', simpleResolvers: true })
export class Hardening {
  @Field(() => String, { description: 'Give it back to have exactly this done, or nothing.' })
  planId!: string;

  @Field(() => [HardeningAction], { description: 'Empty if there is nothing to change.' })
  actions!: HardeningAction[];

  @Field(() => [String], { description: 'What to know before: which ports stay open, and which are shut.' })
  notes!: string[];

  @Field(() => ID, { nullable: true, description: 'Null for a dry run.' })
  runId!: string | null;

  @Extensions(embedded)
  @Field(() => Run, { nullable: true, description: 'Null for a dry run.' })
  run!: Run | null;
}
