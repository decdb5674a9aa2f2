import type { Access } from './check.ts';
import type { SecurityFacts } from './security-facts.ts';

/** One of sshd's lists of algorithms: where it is said, what the server could do, and what is good enough. */
interface AlgorithmList {
  /** As sshd's configuration calls it; its own account of itself has it in small letters. */
  keyword: 'KexAlgorithms' | 'HostKeyAlgorithms' | 'Ciphers' | 'MACs';
  /** The fact that lists what this version of OpenSSH speaks. */
  spoken: string;
  /** Wanted, best first. */
  good: readonly string[];
  /** Not offered by us, but no fault where it is found. */
  tolerated: readonly string[];
}

/** No curves of NIST, no SHA-1, no groups below 3072 bits; what OpenSSH of Debian 12 and our own client both speak is among it. */
export const KEX: AlgorithmList = {
  keyword: 'KexAlgorithms',
  spoken: 'ssh-kex',
  good: [
    'mlkem768x25519-sha256',
    'sntrup761x25519-sha512',
    'sntrup761x25519-sha512@openssh.com',
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group18-sha512',
  ],
  tolerated: [],
};

export const HOST_KEYS: AlgorithmList = {
  keyword: 'HostKeyAlgorithms',
  spoken: 'ssh-keys',
  good: [
    'ssh-ed25519',
    'ssh-ed25519-cert-v01@openssh.com',
    'rsa-sha2-512',
    'rsa-sha2-512-cert-v01@openssh.com',
    'rsa-sha2-256',
    'rsa-sha2-256-cert-v01@openssh.com',
  ],
  tolerated: ['sk-ssh-ed25519@openssh.com', 'sk-ssh-ed25519-cert-v01@openssh.com'],
};

export const CIPHERS: AlgorithmList = {
  keyword: 'Ciphers',
  spoken: 'ssh-ciphers',
  good: ['aes256-gcm@openssh.com', 'aes128-gcm@openssh.com', 'aes256-ctr', 'aes192-ctr', 'aes128-ctr'],
  tolerated: ['chacha20-poly1305@openssh.com'],
};

export const MACS: AlgorithmList = {
  keyword: 'MACs',
  spoken: 'ssh-macs',
  good: ['hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256-etm@openssh.com', 'umac-128-etm@openssh.com'],
  tolerated: [],
};

/** What sshd offers and should not; undefined where it did not say. */
export function weakOf(list: AlgorithmList, facts: SecurityFacts, access: Access): string[] | undefined {
  const offered = facts.setting('sshd', list.keyword)?.split(',');
  const allowed = new Set([...list.good, ...list.tolerated, ...kept(list, access)]);
  return offered?.filter(name => !allowed.has(name));
}

/** The line for sshd's configuration: of what is good, what this server speaks. */
export function strongOf(list: AlgorithmList, facts: SecurityFacts, access: Access): string | undefined {
  const spoken = new Set(facts.lines(list.spoken));
  const names = [...list.good, ...kept(list, access)].filter(name => spoken.has(name));
  return names.length === 0 ? undefined : names.join(',');
}

/** The host key we know the server by stays, whatever it is: without it the server would be a stranger. */
const kept = ({ keyword }: AlgorithmList, { hostKeyType }: Access): string[] =>
  keyword === 'HostKeyAlgorithms' && hostKeyType?.startsWith('ecdsa-') ? [hostKeyType] : [];
