import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { type ConnectionMessage, ConnectionStep, ConnectionStepStatus } from '../../engine/connection-message.ts';
import { ServerFacts } from '../../entities/server.ts';
import { WholeNumber } from '../../entities/whole-number.ts';

registerEnumType(ConnectionStep, { name: 'ConnectionStep' });
registerEnumType(ConnectionStepStatus, { name: 'ConnectionStepStatus' });

@ObjectType('ConnectionMessage', { description: 'How a step of a connection test goes.', simpleResolvers: true })
export class ConnectionMessageType implements ConnectionMessage {
  @Field(() => WholeNumber)
  seq!: number;

  @Field(() => ConnectionStep)
  step!: ConnectionStep;

  @Field(() => ConnectionStepStatus)
  status!: ConnectionStepStatus;

  @Field(() => String)
  message!: string;

  @Field(() => String, { nullable: true, description: 'What to do about it.' })
  hint!: string | null;

  @Field(() => Int, { description: 'How long the step took.' })
  durationMs!: number;

  @Field(() => ServerFacts, { nullable: true })
  facts!: ServerFacts | null;
}
