import { clock } from '../clock.ts';
import type { Page, Row } from '../database/rows.ts';
import { Deployment } from '../entities/deployment.ts';
import { Environment } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Server, type ServerHostKey, ServerStatus } from '../entities/server.ts';
import { DomainError, Invalid } from '../errors.ts';
import { ringRows } from '../events/row-bell.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import type { Queue } from '../jobs/queue.ts';
import type { HostKey } from '../remote/host-key.ts';
import { makeKeyPair } from '../security/private-key.ts';
import { checkVersion, type Scope } from './scope.ts';
import { type Credential, SERVERS_STOPPED, type ServerAccessService } from './server-access.service.ts';
import { type CredentialWish, hasCredential, readCredential, refuseBlindPassword } from './server-credential.ts';
import { ServerAway, ServerUntrusted } from './server-failure.ts';

export interface ServerWish extends CredentialWish {
  name: string;
  host: string;
  port: number;
  username: string;
  hostKeyFingerprint?: string | null;
}

export interface ServerChange extends Partial<ServerWish> {
  ifVersion?: number | null;
}

const MOST_NAMED = 20;

/** Machines we may reach. */
export class ServerService {
  constructor(
    private readonly access: ServerAccessService,
    private readonly queue: Queue,
  ) {}

  list(scope: Scope, status: ServerStatus | undefined, page: Page): Promise<Row<Server>[]> {
    return scope.list(Server, { status }, page);
  }

  get(scope: Scope, id: string): Promise<Row<Server>> {
    return scope.row(Server, id);
  }

  /** Without a credential a key pair is made, whose public half goes into authorized_keys. It is looked at by itself. */
  async create(scope: Scope, wish: ServerWish): Promise<Server> {
    const { name, host, port, username, hostKeyFingerprint } = wish;
    refuseBlindPassword(wish, hostKeyFingerprint != null);
    const { credential, publicKey } = hasCredential(wish) ? await readCredential(wish) : await ownPair(wish);
    await this.access.refuseForbidden(host);
    return scope.transact(async unit => {
      const { workspaceId } = scope.viewer;
      const server = unit.em.create(Server, { workspaceId, name, host, port, username, publicKey });
      server.hostKeys = keysOf(hostKeyFingerprint);
      this.#keep(server, credential);
      await this.#lookSoon(unit, server.id);
      unit.tell(EventKind.server_updated, EventAction.CREATED, server);
      return server;
    });
  }

  /** Another address, user or credential is tried before it takes the place of the old one. */
  async update(scope: Scope, id: string, { ifVersion, ...change }: ServerChange): Promise<Server> {
    const before = await scope.row(Server, id);
    checkVersion(before, ifVersion);
    refuseUntrusted(before, change);
    refuseBlindPassword(change, before.hostKeys.length > 0 || change.hostKeyFingerprint != null);
    const given = hasCredential(change) || change.passphrase != null ? await readCredential(change) : undefined;
    const where = whereabouts(before, change);
    if (change.host != null) await this.access.refuseForbidden(change.host);
    const shown = isWorthTrying(before, change)
      ? await this.#tryOut(scope, before, where, given?.credential)
      : undefined;
    return scope.transact(async unit => {
      // What was tried is what was read before: nobody may have changed it in between.
      const server = await scope.load(unit, Server, id, before.version);
      refuseUntrusted(server, change);
      Object.assign(server, where, { name: change.name ?? server.name });
      if (given) this.#keep(Object.assign(server, { publicKey: given.publicKey }), given.credential);
      if (shown) markSeen(server, shown);
      else if (isElsewhere(before, change)) markUnseen(server);
      await this.#changed(unit, server);
      return server;
    });
  }

  /** The way out of UNTRUSTED. It must be a key that is seen now: one that was only read somewhere helps nobody. */
  async trust(scope: Scope, id: string, fingerprint: string, ifVersion?: number | null): Promise<Server> {
    const before = await scope.row(Server, id);
    checkVersion(before, ifVersion);
    const shown = await this.access.findKey(before, fingerprint);
    if (shown.fingerprint !== fingerprint) throw notShown();
    return scope.transact(async unit => {
      const server = await scope.load(unit, Server, id, before.version);
      server.hostKeys = [shown];
      markUnseen(server);
      await this.#changed(unit, server);
      return server;
    });
  }

  async delete(scope: Scope, id: string, ifVersion?: number | null): Promise<{ id: string }> {
    return scope.transact(async unit => {
      const server = await scope.load(unit, Server, id, ifVersion);
      const usedBy = await usersOf(unit, id);
      if (usedBy.length > 0)
        throw new DomainError('IN_USE', `Environments are on this server: ${usedBy.join(', ')}`, { usedBy });
      unit.tell(EventKind.server_updated, EventAction.DELETED, server);
      unit.em.remove(server);
      await ringRows(unit.em, SERVERS_STOPPED);
      return { id };
    });
  }

  async #tryOut(scope: Scope, before: Row<Server>, where: Where, given: Credential | undefined): Promise<HostKey> {
    const credential = given ?? (await this.#storedCredential(scope, before.id));
    try {
      return await this.access.tryOut(where, credential);
    } catch (error) {
      const isStranger = error instanceof ServerAway && error.failure.kind === 'HOST_KEY';
      // A fingerprint that was given with the change is what is wrong with it.
      if (isStranger && where.hostKeys !== before.hostKeys) throw notShown();
      if (isStranger && !isElsewhere(before, where)) await this.access.distrust(before, error.failure.shown);
      throw error;
    }
  }

  async #storedCredential(scope: Scope, id: string): Promise<Credential> {
    return this.access.credentialOf(await this.access.load(id, scope.viewer.workspaceId));
  }

  #keep(server: Server, credential: Credential): void {
    for (const column of ['privateKey', 'passphrase', 'password'] as const)
      server[column] = this.access.seal(server.id, column, credential[column]);
  }

  async #changed(unit: UnitOfWork, server: Server): Promise<void> {
    server.version += 1;
    server.updatedAt = clock.now();
    await this.#lookSoon(unit, server.id);
    unit.tell(EventKind.server_updated, EventAction.UPDATED, server);
  }

  async #lookSoon(unit: UnitOfWork, serverId: string): Promise<void> {
    await this.queue.enqueue(unit, 'server.look', { serverId }, { lane: serverId });
  }
}

/** Environments that are on it, or on their way there. */
async function usersOf(unit: UnitOfWork, serverId: string): Promise<string[]> {
  const coming = await unit.em.find(Deployment, { serverId, isFinished: false }, { fields: ['environmentId'] });
  const ids = coming.map(({ environmentId }) => environmentId);
  const where = { $or: [{ serverId }, { id: ids }] };
  const users = await unit.em.find(Environment, where, { limit: MOST_NAMED, orderBy: { id: 'desc' } });
  return users.map(({ name }) => name);
}

type Where = Pick<Server, 'host' | 'port' | 'username' | 'hostKeys'>;

function whereabouts(before: Where, { host, port, username, hostKeyFingerprint }: ServerChange): Where {
  return {
    host: host ?? before.host,
    port: port ?? before.port,
    username: username ?? before.username,
    hostKeys: hostKeyFingerprint == null ? before.hostKeys : keysOf(hostKeyFingerprint),
  };
}

/** An address that never led to anything may be mended without proof: its key is often not on the machine yet. */
function isWorthTrying(before: Row<Server>, change: ServerChange): boolean {
  const isNew = hasCredential(change) || change.hostKeyFingerprint != null;
  return isNew || (before.lastSeenAt !== null && isElsewhere(before, change));
}

/** Nothing is done on it until a key is trusted; a key that is given with the change, and shown, is that. */
function refuseUntrusted(server: Row<Server> | Server, change: ServerChange): void {
  if (server.status !== ServerStatus.UNTRUSTED || change.hostKeyFingerprint != null) return;
  if (hasCredential(change) || isElsewhere(server, change)) throw new ServerUntrusted();
}

const isElsewhere = (before: Where, { host, port, username }: Partial<Where>): boolean =>
  (host ?? before.host) !== before.host ||
  (port ?? before.port) !== before.port ||
  (username ?? before.username) !== before.username;

function markSeen(server: Server, { type, fingerprint }: HostKey): void {
  server.hostKeys = [{ type, fingerprint }];
  Object.assign(server, { status: ServerStatus.READY, statusReason: null, missedLooks: 0, lastSeenAt: clock.now() });
}

/** What was found at the place before says nothing about this one. */
const markUnseen = (server: Server) =>
  Object.assign(server, { status: ServerStatus.PENDING, statusReason: null, missedLooks: 0 });

/** Of which type it is the machine will tell. */
const keysOf = (fingerprint: string | null | undefined): ServerHostKey[] =>
  fingerprint == null ? [] : [{ type: null, fingerprint }];

async function ownPair(wish: CredentialWish): Promise<{ credential: Credential; publicKey: string }> {
  // A passphrase without a key is refused like anywhere else.
  await readCredential(wish);
  const { privateKey, publicKey } = await makeKeyPair();
  return { credential: { privateKey }, publicKey };
}

const notShown = () =>
  new Invalid({ field: 'hostKeyFingerprint', message: 'is not the key that the server shows now' });
