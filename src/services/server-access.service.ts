import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { EventAction, EventKind } from '../entities/event.ts';
import { Server, type ServerHostKey, ServerStatus } from '../entities/server.ts';
import { Invalid, NotFound } from '../errors.ts';
import { ringRows } from '../events/row-bell.ts';
import { type Origin, transact, type UnitOfWork } from '../events/unit-of-work.ts';
import { findHostKey } from '../remote/find-host-key.ts';
import type { HostKey } from '../remote/host-key.ts';
import { reach } from '../remote/reach.ts';
import { SshFailure } from '../remote/ssh-failure.ts';
import { SshHost, type SshTarget } from '../remote/ssh-host.ts';
import type { SshPool } from '../remote/ssh-pool.ts';
import type { Keyring } from '../security/keyring.ts';
import type { Secret } from '../security/secret.ts';
import { ServerAway, ServerUntrusted } from './server-failure.ts';

export interface Credential {
  privateKey?: string;
  passphrase?: string;
  password?: string;
}

export type SecretColumn = keyof Credential;

/** What is needed to find a machine and to know that it is the one. */
export type Whereabouts = Pick<Server, 'host' | 'port' | 'username' | 'hostKeys'>;

type Work<Result> = (host: SshHost) => Promise<Result>;

/** The checked addresses of a name. */
export type Resolve = (host: string) => Promise<string[]>;

const COLUMNS: Readonly<Record<SecretColumn, string>> = {
  privateKey: 'private_key',
  passphrase: 'passphrase',
  password: 'password',
};

const FORBIDDEN = 'is an address of cloud metadata or a link-local one, which is never a target';

/** Rings on every instance when work on some server has to stop. */
export const SERVERS_STOPPED = 'servers stopped';

/** Opens connections to servers. The only one who sees their credentials, and who decides whether a machine is the right one. */
export class ServerAccessService {
  constructor(
    private readonly em: EntityManager,
    private readonly keyring: Keyring,
    private readonly pool: SshPool,
    private readonly resolve: Resolve,
  ) {}

  /**
   * Works on a server over its one connection. Whoever calls has found the server through a scope, or is a job of its own.
   * Fails with ServerUntrusted, or with ServerAway where there is no connection; what the work itself throws passes through.
   */
  use<Result>(serverId: string, work: Work<Result>): Promise<Result> {
    return this.#open(serverId, work, (server, task) =>
      this.pool.use(keyOf(server), () => this.#target(server, this.credentialOf(server)), task),
    );
  }

  /** The same over a connection beside that one, for what lasts and must hold nobody up. */
  useBeside<Result>(serverId: string, lane: string, work: Work<Result>): Promise<Result> {
    return this.#open(serverId, work, (server, task) =>
      this.pool.use(`${keyOf(server)}:${lane}`, () => this.#target(server, this.credentialOf(server)), task),
    );
  }

  /** The same over a connection of its own: one that is open already proves nothing about the next. */
  useAnew<Result>(serverId: string, work: Work<Result>): Promise<Result> {
    return this.#open(serverId, work, async (server, task) => {
      const host = await SshHost.connect(await this.#target(server, this.credentialOf(server)));
      try {
        return await task(host);
      } finally {
        host.close();
      }
    });
  }

  async #open<Result>(
    serverId: string,
    work: Work<Result>,
    connect: (server: Server, task: Work<Result>) => Promise<Result>,
  ): Promise<Result> {
    const server = await this.em.fork().findOne(Server, serverId);
    if (server === null) throw new NotFound('Server');
    if (server.status === ServerStatus.UNTRUSTED) throw new ServerUntrusted();
    try {
      return await connect(server, async host => {
        await this.#recognise(server, host.hostKey);
        return work(host);
      });
    } catch (error) {
      if (!(error instanceof SshFailure)) throw error;
      if (error.kind !== 'HOST_KEY') throw new ServerAway(error);
      await this.distrust(server, error.shown);
      throw new ServerUntrusted();
    }
  }

  async load(id: string, workspaceId: string): Promise<Server> {
    const server = await this.em.fork().findOne(Server, { id, workspaceId });
    if (server === null) throw new NotFound('Server');
    return server;
  }

  /** An address that will never be connected to is refused when it is given. A name may get its address later. */
  async refuseForbidden(host: string): Promise<void> {
    try {
      await this.resolve(host);
    } catch (error) {
      if (!(error instanceof SshFailure)) throw error;
      if (error.kind === 'FORBIDDEN_ADDRESS') throw new Invalid({ field: 'host', message: FORBIDDEN });
    }
  }

  /** Signs in and leaves, as it would be done from now on. Answers the key the machine showed. */
  async tryOut(where: Whereabouts, credential: Credential): Promise<HostKey> {
    try {
      const host = await SshHost.connect(await this.#target(where, credential));
      host.close();
      return host.hostKey;
    } catch (error) {
      throw error instanceof SshFailure ? new ServerAway(error) : error;
    }
  }

  /** The key with this fingerprint if the machine has it, else the one it shows by itself. */
  async findKey({ host, port }: Pick<Whereabouts, 'host' | 'port'>, fingerprint: string): Promise<HostKey> {
    try {
      const address = await this.#address(host, port);
      return await findHostKey({ address, port }, key => key.fingerprint === fingerprint);
    } catch (error) {
      throw error instanceof SshFailure ? new ServerAway(error) : error;
    }
  }

  seal(serverId: string, column: SecretColumn, value: string | null | undefined): Secret | null {
    return value == null ? null : this.keyring.seal(value, place(serverId, column));
  }

  credentialOf(server: Pick<Server, 'id' | SecretColumn>): Credential {
    const columns = Object.keys(COLUMNS) as SecretColumn[];
    const present = columns.flatMap(column => {
      const secret = server[column];
      return secret === null ? [] : [[column, this.keyring.open(secret, place(server.id, column))]];
    });
    return Object.fromEntries(present) as Credential;
  }

  /** Another machine answers in its place: all work on it stops, here and on the other instances, and those who listen are told. */
  async distrust({ id, version }: Pick<Server, 'id' | 'version'>, shown: HostKey | undefined): Promise<void> {
    const seen = shown ? `It shows ${shown.type} ${shown.fingerprint}` : 'It shows another key';
    await this.change(id, async (server, unit) => {
      // A verdict about what was configured before says nothing about what is now.
      if (server.version !== version || server.status === ServerStatus.UNTRUSTED) return;
      Object.assign(server, { status: ServerStatus.UNTRUSTED, statusReason: `${seen}, which is not the known key` });
      unit.tell(EventKind.server_updated, EventAction.UPDATED, server);
      await ringRows(unit.em, SERVERS_STOPPED);
    });
    this.pool.drop(keyOf({ id, version }));
  }

  /** A change that the service makes by itself. Somebody may have removed the server meanwhile: then there is nothing to change. */
  async change(serverId: string, change: (server: Server, unit: UnitOfWork) => Promise<void>): Promise<void> {
    const { workspaceId } = (await this.em.fork().findOne(Server, serverId)) ?? {};
    if (workspaceId === undefined) return;
    await transact(this.em, originOf(workspaceId), async unit => {
      const server = await unit.em.findOne(Server, serverId, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (server !== null) await change(server, unit);
    });
  }

  /** Closes the connections to servers that are not to be worked on any more, whoever found that out. */
  async dropStopped(): Promise<void> {
    const ids = this.pool.keys.map(key => key.slice(0, key.indexOf(':')));
    const good = await this.em.fork().find(Server, { id: ids, status: { $ne: ServerStatus.UNTRUSTED } });
    const kept = new Set(good.map(({ id }) => id));
    for (const key of this.pool.keys) if (!kept.has(key.slice(0, key.indexOf(':')))) this.pool.drop(key);
  }

  /** The first key that is seen is kept; from then on it must be that one. */
  async #recognise(known: Server, shown: HostKey): Promise<void> {
    if (known.hostKeys.some(({ type, fingerprint }) => type !== null && fingerprint === shown.fingerprint)) return;
    let isKnown = true;
    await this.change(known.id, async server => {
      if (server.version !== known.version) return;
      isKnown = trusts(server.hostKeys, shown);
      if (isKnown) server.hostKeys = withKey(server.hostKeys, shown);
    });
    if (!isKnown) throw new SshFailure('HOST_KEY', 'Two machines answered at once', shown);
  }

  async #target({ host, port, username, hostKeys }: Whereabouts, credential: Credential): Promise<SshTarget> {
    const address = await this.#address(host, port);
    return {
      ...{ address, port, username },
      ...credential,
      hostKeyTypes: await typesOf(hostKeys, { address, port }),
      // A password goes to nobody who was not known before.
      trusts: key => trusts(hostKeys, key) && (hostKeys.length > 0 || credential.password === undefined),
    };
  }

  async #address(host: string, port: number): Promise<string> {
    const [first = '', ...others] = await this.resolve(host);
    return others.length === 0 ? first : reach([first, ...others], port);
  }
}

/** A fingerprint that somebody gave does not say of which type its key is. */
async function typesOf(known: readonly ServerHostKey[], place: { address: string; port: number }): Promise<string[]> {
  const isKnown = ({ fingerprint }: HostKey) => known.some(key => key.fingerprint === fingerprint);
  if (known.some(({ type }) => type === null)) return [(await findHostKey(place, isKnown)).type];
  return known.flatMap(({ type }) => (type === null ? [] : [type]));
}

/** Without a known key the first that is seen is good. */
const trusts = (known: readonly ServerHostKey[], { fingerprint }: HostKey): boolean =>
  known.length === 0 || known.some(key => key.fingerprint === fingerprint);

const withKey = (known: readonly ServerHostKey[], { type, fingerprint }: HostKey): ServerHostKey[] =>
  known.length === 0
    ? [{ type, fingerprint }]
    : known.map(key => (key.fingerprint === fingerprint ? { type, fingerprint } : key));

/** Another configuration is another connection. */
const keyOf = ({ id, version }: Pick<Server, 'id' | 'version'>): string => `${id}:${version}`;

const place = (id: string, column: SecretColumn) => ({ table: 'server', row: id, column: COLUMNS[column] });

const originOf = (workspaceId: string): Origin => ({
  workspaceId,
  actor: null,
  tokenId: null,
  ip: null,
  requestId: null,
  action: 'watch server',
});
