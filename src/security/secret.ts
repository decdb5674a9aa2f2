import { inspect } from 'node:util';

/** A value at rest is ciphertext. Only a keyring opens it, and nothing prints it. */
export class Secret {
  constructor(readonly sealed: string) {}

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
