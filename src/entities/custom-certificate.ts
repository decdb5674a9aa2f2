import { Entity, Property } from '@mikro-orm/decorators/legacy';
import type { Secret } from '../security/secret.ts';
import { SecretType } from '../security/secret-type.ts';
import { Owned } from './base.ts';

/** A certificate that somebody brought for one of an environment's names. */
@Entity()
export class CustomCertificate extends Owned {
  @Property({ type: 'uuid' })
  projectId!: string;

  @Property({ type: 'uuid' })
  environmentId!: string;

  @Property({ type: 'string' })
  hostname!: string;

  /** As PEM, with those of its authorities behind it. */
  @Property({ type: 'text' })
  certificate!: string;

  @Property({ type: SecretType, hidden: true })
  privateKey!: Secret;
}
