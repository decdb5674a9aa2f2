import { DomainError, type FieldFault, Invalid } from '../errors.ts';
import { type KeyFault, publicKeyOf } from '../security/private-key.ts';
import type { Credential } from './server-access.service.ts';

/** What somebody gives to sign in with. */
export interface CredentialWish {
  privateKey?: string | null;
  passphrase?: string | null;
  password?: string | null;
}

export const hasCredential = ({ privateKey, password }: CredentialWish): boolean =>
  privateKey != null || password != null;

/** Refuses at once what cannot be used later. Answers what is to be kept, and the public half of a key. */
export async function readCredential(
  wish: CredentialWish,
): Promise<{ credential: Credential; publicKey: string | null }> {
  const { privateKey, passphrase, password } = wish;
  if (privateKey != null && password != null)
    throw new Invalid({ field: 'password', message: 'goes without a privateKey: give one of the two' });
  if (privateKey == null && passphrase != null)
    throw new Invalid({ field: 'passphrase', message: 'goes with a privateKey' });
  if (privateKey == null) return { credential: password == null ? {} : { password }, publicKey: null };
  const read = await publicKeyOf(privateKey, passphrase);
  if (typeof read === 'string') throw new Invalid(KEY_FAULTS[read]);
  return { credential: { privateKey, ...(passphrase == null ? {} : { passphrase }) }, publicKey: read.line };
}

const KEY_FAULTS: Readonly<Record<KeyFault, FieldFault>> = {
  UNREADABLE: { field: 'privateKey', message: 'must be a private key as OpenSSH or OpenSSL writes it' },
  NO_PASSPHRASE: { field: 'passphrase', message: 'is needed: the private key is encrypted' },
  WRONG_PASSPHRASE: { field: 'passphrase', message: 'does not open the private key' },
};

/** Whoever answers first would get the password: so it must be known who that has to be. */
export function refuseBlindPassword({ password }: CredentialWish, isMachineKnown: boolean): void {
  if (password == null || isMachineKnown) return;
  throw new DomainError(
    'FINGERPRINT_REQUIRED',
    'A password is sent to no stranger: give hostKeyFingerprint, which test-connection shows',
    { fields: [{ field: 'hostKeyFingerprint', message: 'is required with a password' }] },
  );
}
