import { ArrayMaxSize, ArrayUnique, IsArray, IsUUID, MaxLength, ValidateNested } from 'class-validator';
import { ArgsType, Field, ID } from 'type-graphql';
import type { VariablesWish } from '../../services/variable.service.ts';
import { Clearable } from './absence.ts';
import { IsVariableKey, VariableInput } from './environment-parts.inputs.ts';
import { ChangeArgs, PageArgs } from './page.inputs.ts';

@ArgsType()
export class VariablesArgs extends PageArgs {
  @Field(() => ID, { description: 'Of the environment.' })
  @IsUUID()
  id!: string;
}

@ArgsType()
export class SetVariablesArgs extends ChangeArgs implements VariablesWish {
  @Field(() => [VariableInput], { nullable: true })
  @Clearable()
  @IsArray()
  @ArrayMaxSize(500)
  @ArrayUnique(({ key }: VariableInput) => key, { message: 'variables must not name a key twice' })
  @ValidateNested({ each: true })
  variables?: VariableInput[] | null;

  @Field(() => String, { nullable: true, description: 'The text of a .env file, instead.' })
  @Clearable()
  @MaxLength(1_000_000)
  dotenv?: string | null;
}

@ArgsType()
export class DeleteVariableArgs extends ChangeArgs {
  @Field(() => String)
  @IsVariableKey()
  key!: string;
}
