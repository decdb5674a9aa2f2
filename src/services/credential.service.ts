import { LRUCache } from 'lru-cache';
import { clock, MINUTE, SECOND } from '../clock.ts';
import type { Listener } from '../database/listener.ts';
import type { Rows } from '../database/rows.ts';
import type { TokenScope } from '../entities/api-token.ts';
import type { Role } from '../entities/user.ts';
import { type Claims, hashToken, isApiToken, type Tokens } from '../security/token.ts';
import type { Viewer } from './scope.ts';

const CHANNEL = 'slipway_credential';
const TICKET_CHANNEL = 'slipway_ticket';
/** A remembered viewer is dropped when the database rings; this is for the bell nobody heard. */
const REMEMBER_MS = 30 * SECOND;
const USE_NOTED_EVERY_MS = MINUTE;

interface CredentialRow {
  id: string;
  userId: string;
  workspaceId: string;
  role: Role;
  instanceAdmin: boolean;
  scope: TokenScope | null;
  projectId: string | null;
  environmentId: string | null;
  expiresAt: string | null;
  lastUsedAt: string | null;
}

const SESSION = `
select s.id, u.id as "userId", u.workspace_id as "workspaceId", u.role, u.instance_admin as "instanceAdmin",
  null as scope, null as "projectId", null as "environmentId", s.expires_at as "expiresAt", s.last_used_at as "lastUsedAt"
from session s join users u on u.id = s.user_id
where s.id = $1 and s.ended_at is null and u.email_verified`;

const TOKEN = `
select t.id, u.id as "userId", u.workspace_id as "workspaceId", u.role, u.instance_admin as "instanceAdmin",
  t.scope, t.project_id as "projectId", t.environment_id as "environmentId", t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt"
from api_token t join users u on u.id = t.user_id
where t.token_hash = $1 and u.email_verified`;

const TOKEN_BY_ID = TOKEN.replace('t.token_hash = $1', 't.id = $1');

const RIGHTS = ['userId', 'workspaceId', 'role', 'instanceAdmin', 'tokenScope', 'projectId', 'environmentId'] as const;

type Table = 'session' | 'api_token';

/** A ticket opens one path, one stream at a time. */
export interface TicketHolder {
  viewer: Viewer;
  ticketId: string;
  path: string;
}

/** Who a credential stands for, asked at every request. Remembered while the listening connection is up, since then we hear of every change. */
export class CredentialService {
  readonly #viewers = new LRUCache<string, Viewer>({ max: 10_000, ttl: REMEMBER_MS });
  readonly #watchers = new Set<(subject: string | null) => void>();
  readonly #ticketWatchers = new Set<(ticketId: string, streamId: string) => void>();
  /** Goes up with every change that is heard of. */
  #epoch = 0;
  readonly #readAt = new WeakMap<Viewer, number>();

  constructor(
    private readonly rows: Rows,
    private readonly tokens: Tokens,
    private readonly listener: Listener,
    private readonly warn: (message: string, error: unknown) => void,
  ) {}

  async start(): Promise<void> {
    await this.listener.listen(CHANNEL, subject => this.#forget(subject));
    await this.listener.listen(TICKET_CHANNEL, payload => {
      const [ticketId = '', streamId = ''] = payload.split(' ');
      for (const tell of this.#ticketWatchers) tell(ticketId, streamId);
    });
    this.listener.onReconnect(() => this.#forget(null));
  }

  async viewerOf(bearer: string): Promise<Viewer | undefined> {
    if (isApiToken(bearer)) return this.#lookUp(hashToken(bearer), TOKEN, 'api_token');
    const claims = this.tokens.verify(bearer, 'access');
    return claims && this.#sessionOf(claims);
  }

  async ticketHolder(ticket: string): Promise<TicketHolder | undefined> {
    const claims = this.tokens.verify(ticket, 'ticket');
    const viewer = claims && (await this.#sessionOf(claims));
    return viewer && { viewer, ticketId: claims.jti, path: claims.path ?? '' };
  }

  /** The viewer a stream was opened by, as it is now; undefined when it may no longer do what it could do then. */
  async renew(viewer: Viewer): Promise<Viewer | undefined> {
    const isUnchanged = this.listener.isConnected && this.#readAt.get(viewer) === this.#epoch;
    const renewed = isUnchanged ? viewer : await this.#readAgain(viewer);
    if (renewed === undefined || (renewed.expiresAt ?? Infinity) <= clock.now().getTime()) return undefined;
    return RIGHTS.every(right => renewed[right] === viewer[right]) ? renewed : undefined;
  }

  /** Tells whose credential changed, as "session:<id>", "token:<id>" or "user:<id>"; null for any, after a silence. */
  onChange(ring: (subject: string | null) => void): () => void {
    this.#watchers.add(ring);
    return () => void this.#watchers.delete(ring);
  }

  /** A ticket used anew ends the stream it was used for before, on whichever instance that runs. */
  onTicketUse(tell: (ticketId: string, streamId: string) => void): () => void {
    this.#ticketWatchers.add(tell);
    return () => void this.#ticketWatchers.delete(tell);
  }

  async announceTicketUse(ticketId: string, streamId: string): Promise<void> {
    await this.rows.query(`select pg_notify('${TICKET_CHANNEL}', $1)`, [`${ticketId} ${streamId}`]);
  }

  async #readAgain({ sessionId, tokenId }: Viewer): Promise<Viewer | undefined> {
    const epoch = this.#epoch;
    const text = sessionId === null ? TOKEN_BY_ID : SESSION;
    const [row] = await this.rows.query<CredentialRow>(text, [sessionId ?? tokenId]);
    return row && this.#remember(row, epoch);
  }

  #remember(row: CredentialRow, epoch: number): Viewer {
    const viewer = toViewer(row);
    this.#readAt.set(viewer, epoch);
    return viewer;
  }

  async #sessionOf({ sub, sid }: Claims): Promise<Viewer | undefined> {
    const viewer = await this.#lookUp(sid, SESSION, 'session');
    return viewer?.userId === sub ? viewer : undefined;
  }

  async #lookUp(key: string, text: string, table: Table): Promise<Viewer | undefined> {
    const known = this.listener.isConnected ? this.#viewers.get(key) : undefined;
    if (known !== undefined)
      return known.expiresAt === null || known.expiresAt > clock.now().getTime() ? known : undefined;
    const epoch = this.#epoch;
    const [row] = await this.rows.query<CredentialRow>(text, [key]);
    if (row === undefined || isOver(row)) return undefined;
    const viewer = this.#remember(row, epoch);
    // What was read before a change and arrives after it may be outdated: it serves this request and no other.
    if (epoch === this.#epoch) this.#viewers.set(key, viewer);
    this.#noteUse(row, table);
    return viewer;
  }

  /** Not waited for: nobody's request should be slower or fail because a note about it was not written. */
  #noteUse({ id, lastUsedAt }: CredentialRow, table: Table): void {
    const now = clock.now();
    if (lastUsedAt !== null && now.getTime() - Date.parse(lastUsedAt) < USE_NOTED_EVERY_MS) return;
    this.rows
      .query(`update ${table} set last_used_at = $2 where id = $1`, [id, now])
      .catch(error => this.warn('The last use of a credential could not be noted', error));
  }

  #forget(subject: string | null): void {
    this.#epoch += 1;
    this.#viewers.clear();
    for (const ring of this.#watchers) ring(subject);
  }
}

const isOver = ({ expiresAt }: CredentialRow): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= clock.now().getTime();

const toViewer = ({
  id,
  userId,
  workspaceId,
  role,
  instanceAdmin,
  scope,
  expiresAt,
  projectId,
  environmentId,
}: CredentialRow): Viewer => ({
  userId,
  workspaceId,
  role,
  instanceAdmin,
  sessionId: scope === null ? id : null,
  tokenId: scope === null ? null : id,
  tokenScope: scope,
  projectId,
  environmentId,
  expiresAt: expiresAt === null ? null : Date.parse(expiresAt),
});
