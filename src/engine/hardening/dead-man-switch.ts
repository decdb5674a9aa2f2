import type { PlannedCommand } from '../../commands/harden.commands.ts';
import {
  armSwitch,
  disarmSwitch,
  fireSwitch,
  NOT_ARMED,
  readSwitch,
  switchFolder,
  whileArmed,
} from '../../commands/switch.commands.ts';
import { type Host, RemoteFailure } from '../../remote/host.ts';

export type SwitchState = 'absent' | 'armed' | 'reverted' | 'kept';

/** The switch went off before we were done: the server is as it was. */
export class SwitchWentOff extends Error {
  constructor() {
    super('The dead-man switch went off');
  }
}

const COMMAND_TIMEOUT_MS = 40_000;
const FIRE_TIMEOUT_MS = 100_000;

/**
 * A process on the server that puts the old state back by itself unless we come again and tell it not to. It needs no connection
 * of ours, so whatever we break, including the way in, mends itself.
 */
export class DeadManSwitch {
  readonly folder: string;

  constructor(
    runId: string,
    private readonly username: string,
    private readonly seconds: number,
  ) {
    this.folder = switchFolder(runId);
  }

  async arm(host: Host, address: string, paths: readonly string[]): Promise<void> {
    const { folder, seconds } = this;
    const { command, stdin } = armSwitch(this.username, { folder, seconds, address, paths });
    await host.run(command, { stdin, timeoutMs: COMMAND_TIMEOUT_MS });
  }

  async say(host: Host, planned: PlannedCommand, signal: AbortSignal): Promise<void> {
    const { command, stdin } = whileArmed(this.username, this.folder, planned);
    await this.#tell(() =>
      host.run(command, { signal, timeoutMs: COMMAND_TIMEOUT_MS, ...(stdin === undefined ? {} : { stdin }) }),
    );
  }

  async disarm(host: Host): Promise<void> {
    await this.#tell(() => host.run(disarmSwitch(this.username, this.folder), { timeoutMs: COMMAND_TIMEOUT_MS }));
  }

  async fire(host: Host): Promise<void> {
    await host.run(fireSwitch(this.username, this.folder), { timeoutMs: FIRE_TIMEOUT_MS });
  }

  async state(host: Host): Promise<SwitchState> {
    const { stdout } = await host.run(readSwitch(this.username, this.folder), { timeoutMs: COMMAND_TIMEOUT_MS });
    return stdout.toString().trim() as SwitchState;
  }

  async #tell(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw error instanceof RemoteFailure && error.exitCode === NOT_ARMED ? new SwitchWentOff() : error;
    }
  }
}
