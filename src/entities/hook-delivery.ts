import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { Owned } from './base.ts';

export enum HookDecision {
  DEPLOYED = 'DEPLOYED',
  IGNORED = 'IGNORED',
}
registerEnumType(HookDecision, {
  name: 'HookDecision',
  valuesConfig: {
    DEPLOYED: { description: 'A deployment was queued for it.' },
    IGNORED: { description: 'Nothing was queued; the reason says why.' },
  },
});

type Optional =
  | ('branch' | 'commitSha' | 'commitMessage' | 'commitAuthor' | 'changedPaths' | 'deploymentId')
  | ('redeliveryOf' | 'bodyDigest');

/** A push that was told to us, and what came of it. */
@ObjectType({ description: 'A push that a Git provider told us of, and what came of it.', simpleResolvers: true })
@Entity()
export class HookDelivery extends Owned<Optional> {
  @Field(() => ID)
  @Property({ type: 'uuid' })
  projectId!: string;

  @Field(() => ID)
  @Property({ type: 'uuid' })
  environmentId!: string;

  @Field(() => String, { description: "The provider's own id of the delivery; ours where it gives none." })
  @Property({ type: 'string' })
  deliveryId!: string;

  @Field(() => String, { description: 'What it was: push, poll, tag, delete, ping, or what the provider calls it.' })
  @Property({ type: 'string' })
  event!: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  branch: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  commitSha: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  commitMessage: string | null = null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  commitAuthor: string | null = null;

  /** What the push changed, where the provider said it; null where it did not. */
  @Property({ type: 'json', nullable: true, hidden: true })
  changedPaths: string[] | null = null;

  /** Of what was signed: the same again under another id is a repetition all the same. */
  @Property({ type: 'string', nullable: true, hidden: true })
  bodyDigest: string | null = null;

  @Field(() => HookDecision)
  @Enum({ items: () => HookDecision, type: 'string' })
  decision!: HookDecision;

  @Field(() => String)
  @Property({ type: 'text' })
  reason!: string;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  deploymentId: string | null = null;

  @Field(() => ID, { nullable: true, description: 'The delivery that was tried again with this one.' })
  @Property({ type: 'uuid', nullable: true })
  redeliveryOf: string | null = null;
}
