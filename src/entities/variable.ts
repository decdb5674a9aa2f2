import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { clock } from '../clock.ts';
import type { Secret } from '../security/secret.ts';
import { SecretType } from '../security/secret-type.ts';
import { Owned } from './base.ts';
import { DateTime } from './date-time.ts';

export enum VariableScope {
  RUNTIME = 'RUNTIME',
  BUILD = 'BUILD',
  BOTH = 'BOTH',
}
registerEnumType(VariableScope, { name: 'VariableScope' });

@ObjectType({ description: 'A variable of an environment. Secret values never come back.', simpleResolvers: true })
@Entity()
export class Variable extends Owned<'secret' | 'scope' | 'updatedAt'> {
  @Field(() => ID)
  @Property({ type: 'uuid' })
  projectId!: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  environmentId!: string;

  @Field(() => String)
  @Property({ type: 'string' })
  key!: string;

  @Property({ type: SecretType, hidden: true })
  value!: Secret;

  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  secret: boolean = true;

  @Field(() => VariableScope)
  @Enum({ items: () => VariableScope, type: 'string' })
  scope: VariableScope = VariableScope.RUNTIME;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  updatedBy!: string | null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3, onUpdate: () => clock.now() })
  updatedAt: Date = clock.now();
}
