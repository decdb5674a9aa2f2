import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { clock } from '../clock.ts';
import { Owned } from './base.ts';
import { DateTime } from './date-time.ts';

type Optional = 'generation' | 'rotatedAt' | 'lastUsedAt' | 'endedAt' | 'userAgent' | 'ip';

@ObjectType({ description: 'A place where one is signed in.', simpleResolvers: true })
@Entity()
export class Session extends Owned<Optional> {
  @Property({ type: 'uuid' })
  userId!: string;

  @Field(() => String, { nullable: true, description: 'What the browser or program called itself.' })
  @Property({ type: 'string', nullable: true })
  userAgent: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  ip: string | null = null;

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  lastUsedAt: Date = clock.now();

  @Field(() => DateTime)
  @Property({ type: 'datetime', length: 3 })
  expiresAt!: Date;

  /** Which refresh token of this session is the current one; see `Tokens.refresh`. */
  @Property({ type: 'integer' })
  generation: number = 1;

  @Property({ type: 'datetime', length: 3 })
  rotatedAt: Date = clock.now();

  @Property({ type: 'datetime', length: 3, nullable: true })
  endedAt: Date | null = null;
}
