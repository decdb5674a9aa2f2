import { readSecurityFacts } from '../../commands/security.commands.ts';
import type { SecurityLook } from '../../entities/security.ts';
import type { Host } from '../../remote/host.ts';
import type { HostKey } from '../../remote/host-key.ts';
import type { Access } from './check.ts';
import { judge } from './look.ts';
import { SecurityFacts } from './security-facts.ts';

/** An open connection, and the key that was shown at its beginning. */
export interface Connection extends Host {
  readonly hostKey: HostKey;
  close(): void;
}

/** How a server is reached: whom we are there, and a new connection each time one is asked for. */
export interface Door {
  username: string;
  usesKey: boolean;
  connect(signal?: AbortSignal): Promise<Connection>;
}

const READ_TIMEOUT_MS = 120_000;

export const accessOf = ({ username, usesKey }: Door, { hostKey }: Connection): Access => ({
  username,
  usesKey,
  hostKeyType: hostKey.type,
});

export async function readFacts(host: Host, signal?: AbortSignal): Promise<SecurityFacts> {
  const { command, stdin } = readSecurityFacts();
  const { stdout } = await host.run(command, { stdin, timeoutMs: READ_TIMEOUT_MS, ...(signal ? { signal } : {}) });
  return SecurityFacts.parse(stdout.toString());
}

/** Looks at a server's security over a connection of its own. */
export async function lookAt(door: Door, signal?: AbortSignal): Promise<SecurityLook> {
  const host = await door.connect(signal);
  try {
    return judge(await readFacts(host, signal), accessOf(door, host));
  } finally {
    host.close();
  }
}
