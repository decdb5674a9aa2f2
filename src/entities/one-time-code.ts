import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Owned } from './base.ts';

export enum CodePurpose {
  VERIFY_EMAIL = 'VERIFY_EMAIL',
  SIGN_IN = 'SIGN_IN',
}

type Optional = 'guesses' | 'strangerGuesses' | 'usedAt';

/** A six-digit code on its way to a mailbox. Guesses with the challenge and without it are counted apart. */
@Entity()
export class OneTimeCode extends Owned<Optional> {
  @Property({ type: 'uuid' })
  userId!: string;

  @Enum({ items: () => CodePurpose, type: 'string' })
  purpose!: CodePurpose;

  @Property({ type: 'text', hidden: true })
  codeHash!: string;

  @Property({ type: 'text', unique: true, hidden: true })
  challengeHash!: string;

  @Property({ type: 'integer' })
  guesses: number = 0;

  @Property({ type: 'integer' })
  strangerGuesses: number = 0;

  @Property({ type: 'datetime', length: 3 })
  expiresAt!: Date;

  @Property({ type: 'datetime', length: 3, nullable: true })
  usedAt: Date | null = null;
}
