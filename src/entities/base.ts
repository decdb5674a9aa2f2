import { OptionalProps } from '@mikro-orm/core';
import { PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { clock } from '../clock.ts';
import { newId } from '../id.ts';
import { DateTime } from './date-time.ts';

export type Defaulted = 'version' | 'createdAt';

/** What every resource has. `version` counts changes of configuration; a change of status leaves it alone. */
@ObjectType({ simpleResolvers: true })
export abstract class Base<Optional = never> {
  [OptionalProps]?: Defaulted | Optional;

  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Field(() => Int, { description: 'Counts changes of configuration; the ETag of the resource.' })
  @Property({ type: 'integer', default: 1 })
  version: number = 1;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  createdAt: Date = clock.now();
}

/** A resource that belongs to a workspace: all of them but the workspace itself. */
@ObjectType({ simpleResolvers: true })
export abstract class Owned<Optional = never> extends Base<Optional> {
  @Property({ type: 'uuid' })
  workspaceId!: string;
}
