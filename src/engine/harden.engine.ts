import { asRoot } from '../commands/root.commands.ts';
import type { SecurityLook } from '../entities/security.ts';
import { SecurityStatus } from '../entities/security.ts';
import { DomainError } from '../errors.ts';
import { RemoteFailure } from '../remote/host.ts';
import { lastLine } from '../remote/said-text.ts';
import { SshFailure } from '../remote/ssh-failure.ts';
import { ACTION_NAMES, type Action, type ActionName } from './hardening/action.ts';
import { DeadManSwitch, SwitchWentOff } from './hardening/dead-man-switch.ts';
import { type HardeningWish, makePlan, type Plan } from './hardening/plan.ts';
import { untilItWorks } from './hardening/retry.ts';
import { RunReverted, type Step } from './run.engine.ts';
import { judge } from './security/look.ts';
import { accessOf, type Connection, type Door, readFacts } from './security/security-reader.ts';

export interface Hardening extends HardeningWish {
  runId: string;
  /** Of a dry run: what was agreed to. */
  planId?: string | undefined;
}

/** Told when the server was looked at, so that the new state is known to all. */
export type KeepLook = (look: SecurityLook) => Promise<void>;

/** Long enough for all commands, short enough that a server which shut us out is back within two minutes. */
export const SWITCH_SECONDS = 75;
const PROOF_MS = 30_000;
/** How long after the switch must have gone off we still try to come in. */
const AFTERWARDS_MS = 60_000;
const INSTALL_MS = 10 * 60_000;

/**
 * Plan, guard, apply, prove. Before anything that could shut us out a dead-man switch is armed on the server; it is disarmed
 * only after a new connection was made and became root.
 */
export class HardenEngine {
  #host: Connection | undefined;
  #plan: Plan | undefined;
  /** An earlier worker came to the end and died before it could say so. */
  #isKept = false;
  readonly #switch: DeadManSwitch;

  constructor(
    private readonly door: Door,
    private readonly wish: Hardening,
    private readonly keep: KeepLook,
    private readonly switchSeconds = SWITCH_SECONDS,
  ) {
    this.#switch = new DeadManSwitch(wish.runId, door.username, switchSeconds);
  }

  steps(): Step[] {
    const guarded = ACTION_NAMES.filter(name => name !== 'packages');
    return [
      this.#step('look', signal => this.#look(signal)),
      this.#step('packages', signal => this.#install(signal)),
      this.#step('arm', signal => this.#arm(signal)),
      ...guarded.map(name => this.#step(name, signal => this.#guard(signal, () => this.#apply(name, signal)))),
      this.#step('prove', signal => this.#guard(signal, () => this.#prove(signal))),
      this.#step('disarm', signal => this.#guard(signal, () => this.#disarm())),
      this.#step('look again', signal => this.#lookAgain(signal)),
    ];
  }

  close(): void {
    this.#host?.close();
  }

  /** Whoever takes the run up in the middle knows nothing: the server is asked first how far it came. */
  #step(name: string, run: (signal: AbortSignal) => Promise<string>): Step {
    return {
      name,
      run: async signal => {
        try {
          if (this.#plan === undefined && !this.#isKept) await this.#takeUp(signal);
          return this.#isKept && name !== 'look again' ? 'Done before' : await run(signal);
        } catch (error) {
          throw told(error, signal);
        }
      },
    };
  }

  async #takeUp(signal: AbortSignal): Promise<void> {
    const host = await this.#connection(signal);
    const state = await this.#switch.state(host);
    if (state === 'armed' || state === 'reverted') await this.#putBack(new Error('Slipway stopped in the middle'));
    this.#isKept = state === 'kept';
    if (this.#isKept) return;
    const facts = await readFacts(host, signal);
    this.#plan = makePlan(facts, accessOf(this.door, host), this.wish);
  }

  async #look(_signal: AbortSignal): Promise<string> {
    const { id, checks } = this.#planned();
    if (this.wish.planId !== undefined && this.wish.planId !== id) throw outdated();
    return checks.length === 0 ? 'Nothing to change' : `To mend: ${checks.join(', ')}`;
  }

  async #install(signal: AbortSignal): Promise<string> {
    const action = this.#action('packages');
    if (action === undefined) return NOTHING;
    const host = await this.#connection(signal);
    for (const { command } of action.commands)
      await host.run(asRoot(this.door.username, 'sh', '-c', APART, 'sh', ...command.words), {
        signal,
        timeoutMs: INSTALL_MS,
      });
    return `Installed what is needed`;
  }

  async #arm(signal: AbortSignal): Promise<string> {
    if (!this.#isGuarded()) return NOTHING;
    const { actions, address } = this.#planned();
    const paths = actions.flatMap(({ saves }) => saves);
    await this.#switch.arm(await this.#connection(signal), address, paths);
    return `The old state comes back in ${this.switchSeconds} s unless a new connection succeeds`;
  }

  async #apply(name: ActionName, signal: AbortSignal): Promise<string> {
    const action = this.#action(name);
    if (action === undefined) return NOTHING;
    const host = await this.#connection(signal);
    for (const planned of action.commands) await this.#switch.say(host, planned, signal);
    return `Done: ${action.commands.length} commands`;
  }

  /** Not the connection that is open: one that has to pass the new firewall and the new sshd. */
  async #prove(signal: AbortSignal): Promise<string> {
    if (!this.#isGuarded()) return NOTHING;
    const fresh = await untilItWorks(() => this.door.connect(signal), {
      withinMs: PROOF_MS,
      signal,
      isFinal: isRefusal,
    });
    await fresh.run(asRoot(this.door.username, 'true'), { signal });
    this.#host?.close();
    this.#host = fresh;
    return 'A new connection was made and became root';
  }

  async #disarm(): Promise<string> {
    if (!this.#isGuarded()) return NOTHING;
    await this.#switch.disarm(await this.#connection());
    return 'The new state stays';
  }

  async #lookAgain(signal: AbortSignal): Promise<string> {
    const host = await this.#connection(signal);
    const look = judge(await readFacts(host, signal), accessOf(this.door, host));
    await this.keep(look);
    const mended = new Set(this.#plan?.checks);
    const open = look.checks.filter(({ id, status }) => mended.has(id) && status !== SecurityStatus.PASS);
    if (open.length === 0) return `Score ${look.score}, grade ${look.grade}`;
    const names = open.map(({ id, found }) => `${id} (${found})`).join(', ');
    throw new DomainError('CONFLICT', `All was applied, and access is proven, but this is not right yet: ${names}`);
  }

  async #guard(signal: AbortSignal, work: () => Promise<string>): Promise<string> {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      return this.#putBack(error);
    }
  }

  /** Over whatever connection can be had: the open one if it still speaks, else a new one when the switch has let us in again. */
  async #putBack(cause: unknown): Promise<never> {
    try {
      await untilItWorks(async () => this.#switch.fire(await this.#connection()), {
        withinMs: this.switchSeconds * 1000 + AFTERWARDS_MS,
        afterFailure: () => this.#forget(),
      });
    } catch {
      throw new DomainError(
        'UPSTREAM_FAILED',
        `${reasonOf(cause)}. The server could not be reached again; its dead-man switch puts the old state back within ${this.switchSeconds} s`,
      );
    }
    throw new RunReverted('REVERTED', `${reasonOf(cause)}. The old state was put back`);
  }

  #forget(): void {
    this.#host?.close();
    this.#host = undefined;
  }

  async #connection(signal?: AbortSignal): Promise<Connection> {
    this.#host ??= await this.door.connect(signal);
    return this.#host;
  }

  #planned(): Plan {
    if (this.#plan === undefined) throw new TypeError('a step came before the plan');
    return this.#plan;
  }

  #action(name: ActionName): Action | undefined {
    return this.#planned().actions.find(action => action.name === name);
  }

  #isGuarded(): boolean {
    return this.#planned().actions.some(({ name }) => name !== 'packages');
  }
}

/** sshd answers and does not let us in. Asking again changes nothing, and who asks too often is shut out by fail2ban. */
const isRefusal = (error: unknown): boolean =>
  (error instanceof DomainError && error.code === 'CREDENTIAL_REJECTED') ||
  (error instanceof SshFailure && error.kind === 'AUTH');

const NOTHING = 'Nothing to do';

/** Apart from our connection: a package half installed because somebody's line was cut would be worse than none. */
const APART = `unset SLIPWAY_CALL; mkdir -p /var/lib/slipway; log=/var/lib/slipway/packages.log; setsid -w "$@" >"$log" 2>&1 </dev/null || { code=$?; tail -c 2000 "$log" >&2; exit $code; }`;

export const outdated = (): DomainError =>
  new DomainError('PLAN_OUTDATED', 'The server changed since the dry run; make another and agree to that');

/** What the server's owner may read: how it failed, and the last thing that was complained of. */
function reasonOf(error: unknown): string {
  if (error instanceof SwitchWentOff) return 'It took too long and the dead-man switch went off';
  if (error instanceof RemoteFailure && error.reason === 'LOST') return 'The connection was lost';
  if (error instanceof RemoteFailure) {
    const last = lastLine(error.stderrTail, 200);
    return last ? `A command failed: ${last}` : error.message;
  }
  return error instanceof Error ? error.message : 'It failed';
}

function told(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof DomainError || error instanceof RunReverted) return error;
  if (error instanceof RemoteFailure || error instanceof SshFailure || error instanceof SwitchWentOff)
    return new DomainError('UPSTREAM_FAILED', reasonOf(error));
  return error;
}
