import { Field, ObjectType } from 'type-graphql';
import type { RuntimeLine } from '../../engine/runtime/runtime-line.ts';
import { DateTime } from '../../entities/date-time.ts';
import { LogStream } from '../../entities/deployment-message.ts';

@ObjectType('RuntimeLine', { description: 'A line that a running application printed.', simpleResolvers: true })
export class RuntimeLineType implements RuntimeLine {
  @Field(() => DateTime)
  at!: string;

  @Field(() => LogStream, {
    nullable: true,
    description: 'Null for what Slipway itself says, such as that it was replaced.',
  })
  stream!: LogStream | null;

  @Field(() => String)
  message!: string;
}
