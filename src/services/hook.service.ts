import { createHash } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Page, Row } from '../database/rows.ts';
import { Environment } from '../entities/environment.ts';
import { HookDelivery } from '../entities/hook-delivery.ts';
import { Project } from '../entities/project.ts';
import { DomainError, NotFound } from '../errors.ts';
import { transact, type UnitOfWork, workOrigin } from '../events/unit-of-work.ts';
import { GitFailure } from '../integrations/git/git-failure.ts';
import { type PushEvent, readPushEvent, type Told } from '../integrations/git/push-events.ts';
import { proofOf } from '../security/hook-signature.ts';
import type { Keyring } from '../security/keyring.ts';
import type { GitAccessService } from './git-access.service.ts';
import type { PushLedger } from './push-ledger.ts';
import type { Scope } from './scope.ts';

/** What came in, as it came. */
export interface HookRequest {
  header(name: string): string | undefined;
  body: Uint8Array;
}

export const secretPlace = (environmentId: string) => ({
  table: 'environment',
  row: environmentId,
  column: 'hook_secret',
});

/** Who asks for an environment that there is not takes as long as who asks for another. */
const NOBODYS_SECRET = 'nobody knows this one';

/** What senders call a delivery; some send it again under the same name. */
const DELIVERY_HEADERS = [
  ...['x-github-delivery', 'x-forgejo-delivery', 'x-gitea-delivery', 'x-gogs-delivery', 'idempotency-key'],
  ...['x-gitlab-event-uuid', 'x-request-uuid', 'x-slipway-delivery'],
];

/** Pushes that others tell us of. */
export class HookService {
  constructor(
    private readonly em: EntityManager,
    private readonly keyring: Keyring,
    private readonly git: GitAccessService,
    private readonly ledger: PushLedger,
  ) {}

  /** Believes whoever knows the secret of the environment. What was told before is answered as it was then. */
  async receive(environmentId: string, request: HookRequest): Promise<HookDelivery> {
    const environment = await this.em.fork().findOne(Environment, environmentId);
    const proof = proofOf(request.header, request.body, this.#secretOf(environment) ?? NOBODYS_SECRET);
    if (proof === undefined || environment === null || environment.hookSecret === null) throw unproven();
    const digest = createHash('sha256').update(request.body).digest('hex');
    const told = readBody(request);
    const { push, branch } = await this.#pick(environment, told);
    const deliveryId = deliveryIdOf(request) ?? `sha256:${digest}`;
    // Who shows the secret itself could have sent anything: then a body that was seen before proves nothing.
    const notice = { branch, deliveryId, bodyDigest: proof === 'SIGNED' ? digest : null };
    return transact(this.em, workOrigin('receiveHook', environment.workspaceId), async unit => {
      const locked = await lock(unit, environmentId);
      const earlier = await findEarlier(unit, environmentId, notice);
      return earlier ?? this.ledger.enter(unit, locked, push, notice);
    });
  }

  list(scope: Scope, environmentId: string, page: Page): Promise<Row<HookDelivery>[]> {
    return scope.row(Environment, environmentId).then(() => scope.list(HookDelivery, { environmentId }, page));
  }

  /** Decided anew, by what is known of it and by how the environment is set up now. */
  async redeliver(scope: Scope, environmentId: string, deliveryId: string): Promise<HookDelivery> {
    await scope.row(Environment, environmentId);
    const before = await scope.fork().findOne(HookDelivery, { id: deliveryId, environmentId });
    if (before === null) throw new NotFound('HookDelivery');
    const environment = await scope.fork().findOneOrFail(Environment, environmentId);
    const { push, branch } = await this.#pick(environment, { pushes: [pushOf(before)], defaultBranch: null });
    return scope.transact(async unit => {
      const locked = await scope.load(unit, Environment, environmentId);
      const notice = { branch, redeliveryOf: before.id, actor: scope.viewer.userId };
      const delivery = await this.ledger.enter(unit, locked, push, notice);
      unit.note(delivery);
      return delivery;
    });
  }

  #secretOf(environment: Environment | null): string | undefined {
    if (environment === null || environment.hookSecret === null) return undefined;
    return this.keyring.open(environment.hookSecret, secretPlace(environment.id));
  }

  /** Of several the one to the branch that is followed. */
  async #pick(
    { branch, projectId }: Environment,
    { pushes, defaultBranch }: Told,
  ): Promise<{ push: PushEvent; branch: string | null }> {
    const project = await this.em.fork().findOne(Project, projectId);
    if (project === null) throw unproven();
    const isAnyPush = pushes.some(each => each.event === 'push' || each.event === 'poll');
    const named = branch ?? project.branch ?? defaultBranch;
    const followed = named ?? (isAnyPush ? await this.git.defaultBranch(project).catch(() => null) : null);
    const push = pushes.find(each => each.branch !== null && each.branch === followed) ?? pushes[0] ?? NO_PUSH;
    return { push, branch: followed };
  }
}

const NO_PUSH: PushEvent = {
  ...{ event: 'push', branch: null, sha: null, message: null, author: null },
  changedPaths: null,
};

async function lock(unit: UnitOfWork, id: string): Promise<Environment> {
  const environment = await unit.em.findOne(Environment, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (environment === null || environment.hookSecret === null) throw unproven();
  return environment;
}

function findEarlier(
  unit: UnitOfWork,
  environmentId: string,
  { deliveryId, bodyDigest }: { deliveryId: string; bodyDigest: string | null },
): Promise<HookDelivery | null> {
  const same = bodyDigest === null ? [{ deliveryId }] : [{ deliveryId }, { bodyDigest }];
  return unit.em.findOne(HookDelivery, { environmentId, $or: same });
}

/** The same for a secret that is wrong, for one that is missing, and for an environment that there is not. */
const unproven = (): DomainError =>
  new DomainError('SIGNATURE_INVALID', 'The signature does not fit: is the secret the one that auto-deploy gave?');

function deliveryIdOf({ header }: HookRequest): string | undefined {
  const given = DELIVERY_HEADERS.map(header).find(value => value !== undefined && value !== '');
  return given?.replace(/[^\x20-\x7e]/g, '?').slice(0, 255);
}

/** Who knows the secret and still sends what nobody can read is told so, in the ledger. */
function readBody({ header, body }: HookRequest): Told {
  try {
    return readPushEvent(header, JSON.parse(textOf(header('content-type') ?? '', Buffer.from(body))));
  } catch (error) {
    if (!(error instanceof GitFailure) && !(error instanceof SyntaxError)) throw error;
    const event = 'of a form that is not known';
    return { pushes: [{ ...NO_PUSH, event }], defaultBranch: null };
  }
}

/** GitHub and Gitea send a form unless they are told otherwise. */
const textOf = (type: string, body: Buffer): string =>
  type.startsWith('application/x-www-form-urlencoded')
    ? (new URLSearchParams(body.toString()).get('payload') ?? '')
    : body.toString();

const pushOf = (row: HookDelivery): PushEvent => ({
  ...{ event: row.event, branch: row.branch, sha: row.commitSha, message: row.commitMessage },
  ...{ author: row.commitAuthor, changedPaths: row.changedPaths },
});
