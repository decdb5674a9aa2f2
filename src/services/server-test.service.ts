import type { ConnectionMessage, TestTarget } from '../engine/connection-message.ts';
import { ConnectionTest } from '../engine/connection-test.ts';
import { type Server, ServerStatus } from '../entities/server.ts';
import { Invalid } from '../errors.ts';
import type { Queue } from '../jobs/queue.ts';
import type { HostKey } from '../remote/host-key.ts';
import type { Scope } from './scope.ts';
import type { Resolve, ServerAccessService } from './server-access.service.ts';
import { type CredentialWish, readCredential } from './server-credential.ts';

export interface TestWish extends CredentialWish {
  serverId?: string | null;
  host?: string | null;
  port?: number | null;
  username?: string | null;
  hostKeyFingerprint?: string | null;
}

interface Log {
  error(context: object, message: string): void;
}

const SSH_PORT = 22;

/** Tries a server, or one that is described; never a mix, so that no stored credential goes to an address of somebody's choice. */
export class ServerTestService {
  constructor(
    private readonly access: ServerAccessService,
    private readonly queue: Queue,
    private readonly resolve: Resolve,
    private readonly log: Log,
  ) {}

  async open(scope: Scope, { serverId, ...described }: TestWish): Promise<AsyncIterable<ConnectionMessage>> {
    if (serverId == null) return this.#start(await describedTarget(described));
    const mixed = Object.entries(described).filter(([, value]) => value != null);
    if (mixed.length > 0)
      throw new Invalid(
        ...mixed.map(([field]) => ({ field, message: 'goes without serverId: give one or the other' })),
      );
    const server = await this.access.load(serverId, scope.viewer.workspaceId);
    return this.#start(this.#storedTarget(server), {
      onStranger: key => this.#distrust(server, key),
      onSuccess: () => this.queue.enqueue({ em: scope.fork() }, 'server.look', { serverId }, { lane: serverId }),
    });
  }

  #start(target: TestTarget, tells: Tells = {}): AsyncIterable<ConnectionMessage> {
    const { resolve, log } = this;
    return new ConnectionTest(target, { resolve, log, ...tells }).start();
  }

  #storedTarget(server: Server): TestTarget {
    const { host, port, username, hostKeys, status } = server;
    const known = hostKeys.map(({ fingerprint }) => fingerprint);
    const isStopped = status === ServerStatus.UNTRUSTED;
    return { host, port, username, known, isStopped, ...this.access.credentialOf(server) };
  }

  #distrust(server: Server, shown: HostKey): Promise<void> {
    return this.access.distrust(server, shown);
  }
}

interface Tells {
  onStranger?: (key: HostKey) => Promise<void>;
  onSuccess?: () => Promise<void>;
}

async function describedTarget({ host, port, username, hostKeyFingerprint, ...wish }: TestWish): Promise<TestTarget> {
  if (host == null || username == null) {
    const missing = Object.entries({ host, username }).filter(([, value]) => value == null);
    throw new Invalid(...missing.map(([field]) => ({ field, message: 'is required without serverId' })));
  }
  const { credential } = await readCredential(wish);
  const known = hostKeyFingerprint == null ? [] : [hostKeyFingerprint];
  return { host, port: port ?? SSH_PORT, username, known, isStopped: false, ...credential };
}
