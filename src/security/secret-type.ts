import { Type } from '@mikro-orm/core';
import { Secret } from './secret.ts';

/** Stores the ciphertext as it is, so that an unchanged secret never looks changed. */
export class SecretType extends Type<Secret | null, string | null> {
  override convertToDatabaseValue(secret: Secret | null): string | null {
    return secret?.sealed ?? null;
  }

  override convertToJSValue(sealed: string | null): Secret | null {
    return sealed === null ? null : new Secret(sealed);
  }

  override compareAsType(): string {
    return 'string';
  }

  override getColumnType(): string {
    return 'text';
  }
}
