import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Secret } from './secret.ts';

/** Where a secret lies. It is sealed to that place, so ciphertext moved to another row does not open. */
export interface Place {
  table: string;
  row: string;
  column: string;
}

interface Key {
  id: string;
  bytes: Buffer;
}

const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals with the current master key; opens what the current or a previous one sealed. */
export class Keyring {
  readonly #current: Key;
  readonly #byId: Map<string, Key>;
  readonly #hmacKey: Buffer;

  constructor(masterKey: string, previous: readonly string[] = []) {
    const keys = [masterKey, ...previous].map(deriveKey);
    this.#current = keys[0] as Key;
    this.#byId = new Map(keys.map(key => [key.id, key]));
    this.#hmacKey = derive(masterKey, 'slipway digest');
  }

  get keyId(): string {
    return this.#current.id;
  }

  knows(keyId: string): boolean {
    return this.#byId.has(keyId);
  }

  seal(plain: string, place: Place): Secret {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#current.bytes, nonce).setAAD(associated(place));
    const body = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return new Secret(`${VERSION}.${this.#current.id}.${body.toString('base64url')}`);
  }

  open(secret: Secret, place: Place): string {
    const [version, keyId, body] = secret.sealed.split('.');
    const key = this.#byId.get(keyId ?? '');
    if (version !== VERSION || key === undefined || body === undefined) throw new SealBroken(place);
    try {
      return decipher(key, Buffer.from(body, 'base64url'), place);
    } catch {
      throw new SealBroken(place);
    }
  }

  isCurrent(secret: Secret): boolean {
    return secret.sealed.startsWith(`${VERSION}.${this.#current.id}.`);
  }

  reseal(secret: Secret, place: Place): Secret {
    return this.seal(this.open(secret, place), place);
  }

  /** A keyed digest for what must be recognised but never read back, such as a six-digit code. */
  digest(purpose: string, ...parts: string[]): string {
    return createHmac('sha256', this.#hmacKey)
      .update(JSON.stringify([purpose, ...parts]))
      .digest('base64url');
  }
}

export class SealBroken extends Error {
  constructor({ table, column }: Place) {
    super(`A sealed value in ${table}.${column} cannot be opened with MASTER_KEY or MASTER_KEY_PREVIOUS`);
  }
}

function decipher(key: Key, raw: Buffer, place: Place): string {
  const nonce = raw.subarray(0, NONCE_BYTES);
  const opening = createDecipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG_BYTES });
  opening.setAAD(associated(place)).setAuthTag(raw.subarray(-TAG_BYTES));
  return opening.update(raw.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + opening.final('utf8');
}

const associated = ({ table, row, column }: Place) => Buffer.from(`${table}/${row}/${column}`);

function deriveKey(masterKey: string): Key {
  return {
    id: derive(masterKey, 'slipway key id').subarray(0, 4).toString('hex'),
    bytes: derive(masterKey, 'slipway seal'),
  };
}

const derive = (masterKey: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, 'slipway', purpose, 32));
