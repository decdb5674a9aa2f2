import ssh2 from 'ssh2';

export type KeyType = 'ed25519' | 'ecdsa' | 'rsa';

const OPTIONS = { ecdsa: { bits: 256 }, rsa: { bits: 2048 }, ed25519: {} } as const;

/** A private key and its public half. One in some two hundred that ssh2 makes cannot be read, and is thrown away. */
export function makeKeyPair(type: KeyType = 'ed25519'): { private: string; public: string } {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync(type as 'rsa', OPTIONS[type] as { bits: number });
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair;
  }
}

export const makePrivateKey = (type?: KeyType): string => makeKeyPair(type).private;
