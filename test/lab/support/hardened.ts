import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Command } from '../../../src/commands/command.ts';
import { HardenEngine, type Hardening } from '../../../src/engine/harden.engine.ts';
import type { Step } from '../../../src/engine/run.engine.ts';
import type { Connection, Door } from '../../../src/engine/security/security-reader.ts';
import type { SecurityLook } from '../../../src/entities/security.ts';
import { newId } from '../../../src/id.ts';
import type { SshHost } from '../../../src/remote/ssh-host.ts';
import type { LabServer } from './lab-server.ts';

export interface Outcome {
  /** What each step said, by its name, up to the one that failed. */
  said: Record<string, string>;
  error: unknown;
  looks: SecurityLook[];
}

export const doorTo = (server: LabServer, username = 'deploy'): Door => ({
  username,
  usesKey: true,
  connect: () => server.connect(username),
});

/** The steps of a hardening, one after the other, as a run takes them. */
export async function harden(door: Door, wish: Partial<Hardening> = {}, switchSeconds?: number): Promise<Outcome> {
  const looks: SecurityLook[] = [];
  const keep = async (look: SecurityLook) => void looks.push(look);
  const engine = new HardenEngine(door, { runId: newId(), ...wish }, keep, switchSeconds);
  try {
    return { ...(await carryOut(engine.steps())), looks };
  } finally {
    engine.close();
  }
}

export async function carryOut(steps: readonly Step[]): Promise<Omit<Outcome, 'looks'>> {
  const said: Record<string, string> = {};
  const { signal } = new AbortController();
  for (const { name, run } of steps) {
    try {
      said[name] = (await run(signal)) ?? '';
    } catch (error) {
      return { said, error };
    }
  }
  return { said, error: undefined };
}

/** All that hardening may change and the switch has to put back. */
export const stateOf = (server: LabServer): Promise<string> =>
  server.shell(`
    find /etc -type f ! -name '*.lock' ! -path '/etc/ssl/*' -exec sha256sum {} + | sort -k 2
    stat -c '%a %U %n' /etc/ssh/* /etc/sudoers /etc/sudoers.d/*
    for chain in INPUT DOCKER-USER; do iptables -S $chain 2>/dev/null; ip6tables -S $chain 2>/dev/null; done
    sshd -T
    sysctl -a 2>/dev/null | grep -E '^net.ipv[46].conf.(all|default).(accept|send|secure|rp)'`);

/** What a judge from outside has against this server's SSH. */
export async function auditSsh(server: LabServer): Promise<string[]> {
  const audit = promisify(execFile)('ssh-audit', ['--no-colors', server.address]);
  // It ends with the number of its complaints.
  const { stdout } = await audit.catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }));
  if (!stdout.includes('(kex)')) throw new Error(`ssh-audit did not get through: ${stdout.slice(0, 500)}`);
  return stdout.split('\n').filter(line => line.includes('[fail]'));
}

export async function lynisIndex(server: LabServer): Promise<number> {
  await server.shell('apt-get install -y -q --no-install-recommends lynis >/dev/null 2>&1');
  const said = await server.shell('lynis audit system --quick --no-colors 2>/dev/null');
  const [, index] = /Hardening index : (\d+)/.exec(said) ?? [];
  if (index === undefined) throw new Error('Lynis gave no index');
  return Number(index);
}

/** A way in that can be watched, disturbed and cut. */
export class FragileDoor implements Door {
  readonly username = 'deploy';
  readonly usesKey = true;
  #isShut = false;
  readonly #open = new Set<SshHost>();

  constructor(
    private readonly server: LabServer,
    /** Is told each command before it is said. */
    private readonly before: (words: string, door: FragileDoor) => Promise<void> = async () => undefined,
  ) {}

  async connect(): Promise<Connection> {
    if (this.#isShut) throw new Error('The network is gone');
    const host = await this.server.connect();
    this.#open.add(host);
    return {
      hostKey: host.hostKey,
      close: () => host.close(),
      stream: (command, options) => host.stream(command, options),
      dial: port => host.dial(port),
      converse: command => host.converse(command),
      run: async (command: Command, options) => {
        await this.before(command.toString(), this);
        return host.run(command, options);
      },
    };
  }

  /** Nothing goes through any more, and what was open is gone. */
  cut(): void {
    this.#isShut = true;
    for (const host of this.#open) host.close();
    this.#open.clear();
  }

  restore(): void {
    this.#isShut = false;
  }
}
