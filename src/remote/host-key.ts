import { createHash } from 'node:crypto';

/** A machine's public key as people compare it: `ssh-ed25519 SHA256:…`. */
export interface HostKey {
  type: string;
  fingerprint: string;
}

/** The wire form begins with its type, as a string with its length in front. */
export function hostKeyOf(wire: Buffer): HostKey {
  const length = wire.readUInt32BE(0);
  const type = wire.toString('ascii', 4, 4 + Math.min(length, 64));
  const digest = createHash('sha256').update(wire).digest('base64').replace(/=+$/, '');
  return { type, fingerprint: `SHA256:${digest}` };
}

export const isFingerprint = (text: string): boolean => /^SHA256:[A-Za-z0-9+/]{43}$/.test(text);
