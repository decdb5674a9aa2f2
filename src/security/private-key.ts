import ssh2 from 'ssh2';

/** A private key as ssh takes one, which needs nobody to type a passphrase. */
export function isUsableKey(text: string): boolean {
  const key = ssh2.utils.parseKey(text);
  if (key instanceof Error) return false;
  return [key].flat().some(each => each.isPrivateKey());
}
