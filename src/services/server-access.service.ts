import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { EventAction, EventKind } from '../entities/event.ts';
import { Server, type ServerHostKey, ServerStatus } from '../entities/server.ts';
import { NotFound } from '../errors.ts';
import { ringRows } from '../events/row-bell.ts';
import { type Origin, transact, type UnitOfWork } from '../events/unit-of-work.ts';
import type { HostKey } from '../remote/host-key.ts';
import { reach } from '../remote/reach.ts';
import { SshFailure } from '../remote/ssh-failure.ts';
import type { SshHost, SshTarget } from '../remote/ssh-host.ts';
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

/** The checked addresses of a name. */
export type Resolve = (host: string) => Promise<string[]>;

const COLUMNS: Readonly<Record<SecretColumn, string>> = {
  privateKey: 'private_key',
  passphrase: 'passphrase',
  password: 'password',
};

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
  async use<Result>(serverId: string, work: (host: SshHost) => Promise<Result>): Promise<Result> {
    const server = await this.em.fork().findOne(Server, serverId);
    if (server === null) throw new NotFound('Server');
    if (server.status === ServerStatus.UNTRUSTED) throw new ServerUntrusted();
    try {
      return await this.pool.use(
        keyOf(server),
        () => this.#target(server),
        async host => {
          await this.#recognise(server, host.hostKey);
          return work(host);
        },
      );
    } catch (error) {
      if (!(error instanceof SshFailure)) throw error;
      if (error.kind !== 'HOST_KEY') throw new ServerAway(error);
      await this.distrust(server, error.shown);
      throw new ServerUntrusted();
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

  async #target(server: Server): Promise<SshTarget> {
    const { host, port, username, hostKeys } = server;
    const addresses = await this.resolve(host);
    return {
      address: addresses.length === 1 ? (addresses[0] as string) : await reach(addresses, port),
      port,
      username,
      ...this.credentialOf(server),
      hostKeyTypes: hostKeys.flatMap(({ type }) => (type === null ? [] : [type])),
      trusts: key => trusts(hostKeys, key) && (hostKeys.length > 0 || server.password === null),
    };
  }
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
