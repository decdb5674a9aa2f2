/** A private key as ssh takes one, which needs nobody to type a passphrase. */
export async function isUsableKey(text: string): Promise<boolean> {
  // Loaded when somebody brings a key: it is no small program, and many an installation never sees one.
  const { default: ssh2 } = await import('ssh2');
  const key = ssh2.utils.parseKey(text);
  if (key instanceof Error) return false;
  return [key].flat().some(each => each.isPrivateKey());
}
