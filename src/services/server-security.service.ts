import type { EntityManager } from '@mikro-orm/postgresql';
import { DAY, fromNow } from '../clock.ts';
import { HardenEngine, outdated } from '../engine/harden.engine.ts';
import { commandsOf, makePlan, type Plan, refuseUnknownChecks } from '../engine/hardening/plan.ts';
import type { Step } from '../engine/run.engine.ts';
import { gradeOf } from '../engine/security/look.ts';
import { accessOf, lookAt, readFacts } from '../engine/security/security-reader.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { type Run, RunKind } from '../entities/run.ts';
import type { SecurityCheck, SecurityLook } from '../entities/security.ts';
import { Server, ServerStatus } from '../entities/server.ts';
import { DomainError, NotFound } from '../errors.ts';
import type { Queue } from '../jobs/queue.ts';
import { RemoteFailure } from '../remote/host.ts';
import type { RunService } from './run.service.ts';
import { checkVersion, type Scope } from './scope.ts';
import type { ServerAccessService } from './server-access.service.ts';
import { doorOf } from './server-door.ts';
import { ServerUntrusted } from './server-failure.ts';

export interface HardenWish {
  checks?: string[] | undefined;
  allowPorts?: number[] | undefined;
  dryRun?: boolean | undefined;
  planId?: string | undefined;
  ifVersion?: number | null | undefined;
}

/** What would be said to the server, and the run that says it; none for a dry run. */
export interface HardenAnswer {
  planId: string;
  actions: { name: string; checks: string[]; commands: string[] }[];
  notes: string[];
  runId: string | null;
  run: Run | null;
}

export interface HardenOrder extends Omit<HardenWish, 'dryRun' | 'ifVersion'> {
  runId: string;
  serverId: string;
}

const OPEN = [ServerStatus.READY, ServerStatus.UNREACHABLE];
const BATCH = 100;

/** How safe servers are, and how they are made safer. */
export class ServerSecurityService {
  constructor(
    private readonly em: EntityManager,
    private readonly access: ServerAccessService,
    private readonly runs: RunService,
    private readonly queue: Queue,
    private readonly warn: (message: string, error: unknown) => void,
  ) {}

  /** The last look. */
  async get(scope: Scope, id: string): Promise<SecurityLook> {
    await scope.row(Server, id);
    // Rows that are shown leave out what is not always shown.
    const { security, securityChecks } = await this.#load(id);
    if (security === null || securityChecks === null) throw new NotFound('A look at the security of this server');
    const checks = securityChecks as SecurityCheck[];
    return { ...security, grade: gradeOf(security.score, checks), checks };
  }

  async check(scope: Scope, id: string, ifVersion?: number | null): Promise<Run> {
    return scope.transact(async unit => {
      const server = await scope.load(unit, Server, id, ifVersion);
      if (server.status === ServerStatus.UNTRUSTED) throw new ServerUntrusted();
      const run = this.runs.start(unit, RunKind.CHECK_SECURITY, server.workspaceId, `Server:${id}`);
      await this.queue.enqueue(unit, 'server.check-security', { runId: run.id, serverId: id }, { lane: id });
      return run;
    });
  }

  /** The server is asked before anything is promised: what cannot be done is refused here, not in a run. */
  async harden(scope: Scope, id: string, wish: HardenWish): Promise<HardenAnswer> {
    const { checks, allowPorts, planId } = wish;
    refuseUnknownChecks(checks);
    checkVersion(await scope.row(Server, id), wish.ifVersion);
    const plan = await this.#plan(id, wish);
    if (planId !== undefined && planId !== plan.id) throw outdated();
    if (wish.dryRun === true) {
      scope.notes.status = 200;
      return describe(plan, null);
    }
    return scope.transact(async unit => {
      const server = await scope.load(unit, Server, id, wish.ifVersion);
      const run = this.runs.start(unit, RunKind.HARDEN_SERVER, server.workspaceId, `Server:${id}`);
      const order = { runId: run.id, serverId: id, checks, allowPorts, planId };
      await this.queue.enqueue(unit, 'server.harden', order, { lane: id });
      return describe(plan, run);
    });
  }

  checkSteps(serverId: string): Step[] {
    return [{ name: 'look', run: signal => this.#lookNow(serverId, signal) }];
  }

  /** Has the steps of a hardening carried out; they share one connection, which is closed in the end. */
  async hardening({ serverId, ...wish }: HardenOrder, carryOut: (steps: Step[]) => Promise<void>): Promise<void> {
    const server = await this.em.fork().findOne(Server, serverId);
    if (server === null) return carryOut([{ name: 'look', run: () => Promise.reject(new NotFound('Server')) }]);
    const engine = new HardenEngine(doorOf(this.access, server), wish, look => this.#keep(serverId, look));
    try {
      await carryOut(engine.steps());
    } finally {
      engine.close();
    }
  }

  /** Without anybody asking. A server that cannot be looked at now keeps its last look, which says when it was. */
  async look(serverId: string): Promise<void> {
    try {
      await this.#lookNow(serverId);
    } catch (error) {
      this.warn(`The security of server ${serverId} could not be looked at`, error);
    }
  }

  /** Daily: those whose last look is a day old. */
  async lookAtAll(signal: AbortSignal): Promise<void> {
    const text = `select id from server where status = any(?)
      and (security is null or (security ->> 'checkedAt')::timestamptz < ?) order by id limit ?`;
    const due = await this.em.fork().execute<{ id: string }[]>(text, [OPEN, fromNow(-DAY), BATCH]);
    for (const { id } of due) {
      if (signal.aborted) return;
      await this.look(id);
    }
  }

  async #plan(serverId: string, { checks, allowPorts }: HardenWish): Promise<Plan> {
    const door = doorOf(this.access, await this.#load(serverId));
    const host = await door.connect();
    try {
      return makePlan(await readFacts(host), accessOf(door, host), { checks, allowPorts });
    } catch (error) {
      throw told(error);
    } finally {
      host.close();
    }
  }

  async #lookNow(serverId: string, signal?: AbortSignal): Promise<string> {
    try {
      const look = await lookAt(doorOf(this.access, await this.#load(serverId)), signal);
      await this.#keep(serverId, look);
      return `Score ${look.score}, grade ${look.grade}`;
    } catch (error) {
      throw told(error);
    }
  }

  async #keep(serverId: string, { score, checkedAt, checks }: SecurityLook): Promise<void> {
    await this.access.change(serverId, async (server, unit) => {
      Object.assign(server, { security: { score, checkedAt }, securityChecks: checks });
      unit.tell(EventKind.server_updated, EventAction.UPDATED, server);
    });
  }

  async #load(serverId: string): Promise<Server> {
    const server = await this.em.fork().findOne(Server, serverId);
    if (server === null) throw new NotFound('Server');
    return server;
  }
}

function describe({ id, actions, notes }: Plan, run: Run | null): HardenAnswer {
  const told = actions.map(action => ({ name: action.name, checks: action.checks, commands: commandsOf(action) }));
  return { planId: id, actions: told, notes, runId: run?.id ?? null, run };
}

/** The connection was lost, or the server did not do what it was told. */
const told = (error: unknown): unknown =>
  error instanceof RemoteFailure
    ? new DomainError('UPSTREAM_FAILED', `The server could not be asked: ${error.message}`)
    : error;
