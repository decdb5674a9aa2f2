export type KeyFault = 'UNREADABLE' | 'NO_PASSPHRASE' | 'WRONG_PASSPHRASE';

/** The line for `authorized_keys` that belongs to a private key, or why that cannot be read. */
export async function publicKeyOf(text: string, passphrase?: string | null): Promise<{ line: string } | KeyFault> {
  const { default: ssh2 } = await import('ssh2');
  const parsed = ssh2.utils.parseKey(text, passphrase ?? undefined);
  if (parsed instanceof Error) {
    if (/no passphrase given/i.test(parsed.message)) return 'NO_PASSPHRASE';
    return passphrase != null && isUnlocking(parsed.message) ? 'WRONG_PASSPHRASE' : 'UNREADABLE';
  }
  const [key] = [parsed].flat();
  if (!key?.isPrivateKey()) return 'UNREADABLE';
  return { line: `${key.type} ${key.getPublicSSH().toString('base64')} slipway` };
}

const isUnlocking = (message: string): boolean => /passphrase|decrypt|integrity|bad key|malformed/i.test(message);

/** A pair of its own for each server: nobody else has ever had it. */
export async function makeKeyPair(): Promise<{ privateKey: string; publicKey: string }> {
  const { default: ssh2 } = await import('ssh2');
  // One in some two hundred that ssh2 makes cannot be read, not even by itself: such a one is thrown away.
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'slipway' });
    const read = await publicKeyOf(pair.private);
    if (typeof read !== 'string' && read.line === pair.public)
      return { privateKey: pair.private, publicKey: read.line };
  }
}

/** A private key as ssh takes one, which needs nobody to type a passphrase. */
export async function isUsableKey(text: string): Promise<boolean> {
  // Loaded when somebody brings a key: it is no small program, and many an installation never sees one.
  const { default: ssh2 } = await import('ssh2');
  const key = ssh2.utils.parseKey(text);
  if (key instanceof Error) return false;
  return [key].flat().some(each => each.isPrivateKey());
}
