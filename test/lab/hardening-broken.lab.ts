import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { HardenEngine, SWITCH_SECONDS } from '../../src/engine/harden.engine.ts';
import { newId } from '../../src/id.ts';
import { eventually } from '../support/eventually.ts';
import { carryOut, doorTo, FragileDoor, harden, stateOf } from './support/hardened.ts';
import { LabServer } from './support/lab-server.ts';

/** The full form waits as long as a true server would; the short one has a switch that goes off sooner. */
const isFull = process.env.SLIPWAY_LAB === 'full';
const SECONDS = isFull ? SWITCH_SECONDS : 4;
const HEALED_WITHIN_MS = isFull ? 120_000 : 40_000;
const PACKAGES = 'cron debsums fail2ban needrestart ufw unattended-upgrades';

let server: LabServer;
let before: string;

beforeAll(async () => {
  server = await LabServer.start();
  await server.shell(`DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends ${PACKAGES}`);
  before = await stateOf(server);
});
afterAll(() => server?.stop());

/** Whatever was done to it before. */
beforeEach(async () => {
  expect(await stateOf(server)).toBe(before);
});

const hasHealed = () => eventually(async () => (await stateOf(server)) === before, HEALED_WITHIN_MS);
const letsUsIn = () =>
  eventually(
    () =>
      server.connect().then(
        host => host.close() ?? true,
        () => false,
      ),
    HEALED_WITHIN_MS,
  );

describe('a hardening that is broken half-way puts everything back', () => {
  test('when sshd does not take its new configuration', async () => {
    const door = new FragileDoor(server, async words => {
      if (words.endsWith(' sshd -t')) await server.shell('echo Nonsense >> /etc/ssh/sshd_config.d/00-slipway.conf');
    });
    const { error, said } = await harden(door);
    expect(error).toMatchObject({ code: 'REVERTED', message: expect.stringContaining('bad configuration') });
    expect(said).not.toHaveProperty('ssh');
    await letsUsIn();
  });

  test('when sshd would not let us in any more', async () => {
    const door = new FragileDoor(server, async words => {
      if (words.endsWith(' sshd -t'))
        await server.shell('echo AllowUsers nobody >> /etc/ssh/sshd_config.d/00-slipway.conf');
    });
    const { error, said } = await harden(door, {}, SECONDS);
    expect(error).toMatchObject({ code: 'REVERTED' });
    expect(said).toHaveProperty('firewall');
    expect(said).not.toHaveProperty('disarm');
    await letsUsIn();
  });

  test('when the firewall shuts the port we come by', async () => {
    const door = new FragileDoor(server, async words => {
      // Not `insert`: ufw takes that for the rule which is there, and changes nothing.
      if (words.includes('ufw --force enable')) await server.shell('ufw deny 22/tcp');
    });
    const { error } = await harden(door, {}, SECONDS);
    expect(error).toMatchObject({ code: 'REVERTED' });
    await letsUsIn();
  });

  test('when a rule of nobody swallows all we say, on the open connection too', async () => {
    const door = new FragileDoor(server, async words => {
      if (words.includes('ufw --force enable')) await server.shell('iptables -I INPUT -p tcp --dport 22 -j DROP');
    });
    const { error } = await harden(door, {}, SECONDS);
    expect(error).toMatchObject({ code: 'REVERTED' });
    await letsUsIn();
  });
});

describe('a connection that is cut', () => {
  const moments = [
    ['after arming', 'accounts', 'tee -- /etc/issue'],
    ['while fail2ban starts', 'fail2ban', 'service fail2ban restart'],
    ['while sshd is told', 'ssh', 'service ssh reload'],
    ['while the firewall is switched on', 'firewall', 'ufw --force enable'],
    ['at the end', 'disarm', 'touch "$folder/kept"'],
  ];
  const others = [
    ['in the kernel settings', 'kernel', 'sysctl -q -p'],
    ['in the upkeep', 'upkeep', 'CRON_CHECK'],
    ['before sshd is told', 'ssh', 'sshd -t'],
    ['before the firewall is on', 'firewall', 'ufw default deny'],
  ];

  test.each(isFull ? [...moments, ...others] : moments)('%s leaves it as it was', async (_, step = '', words = '') => {
    let isCut = false;
    const door = new FragileDoor(server, async (said, self) => {
      if (isCut || !said.includes(words)) return;
      isCut = true;
      self.cut();
    });
    // Long enough to come as far as that.
    const hardening = harden(door, {}, step === 'disarm' ? Math.max(SECONDS, 20) : SECONDS);
    await eventually(() => isCut, HEALED_WITHIN_MS);
    await hasHealed();
    door.restore();
    const { error, said } = await hardening;
    expect(error).toMatchObject({ code: 'REVERTED', message: expect.stringContaining('The old state was put back') });
    expect(said).not.toHaveProperty(step);
    await letsUsIn();
  });
});

describe('a service that dies in the middle', () => {
  test('heals by itself, and whoever takes the run up ends it truthfully', async () => {
    const wish = { runId: newId() };
    const door = doorTo(server);
    const first = new HardenEngine(door, wish, async () => undefined, SECONDS);
    const upToSsh = first.steps().filter(({ name }) => !['firewall', 'prove', 'disarm', 'look again'].includes(name));
    expect((await carryOut(upToSsh)).said).toHaveProperty('ssh');
    first.close();
    expect(await stateOf(server)).not.toBe(before);
    await hasHealed();
    const second = new HardenEngine(door, wish, async () => undefined, SECONDS);
    const { error, said } = await carryOut(second.steps().filter(({ name }) => name === 'firewall'));
    second.close();
    expect(said).toEqual({});
    expect(error).toMatchObject({ code: 'REVERTED', message: expect.stringContaining('stopped in the middle') });
  });
});

describe('a server that hardening does not know', () => {
  test.each([
    ['Alpine', 'ID=alpine\nVERSION_ID=3.20\nPRETTY_NAME="Alpine Linux v3.20"'],
    ['an old Debian', 'ID=debian\nVERSION_ID="11"\nPRETTY_NAME="Debian GNU/Linux 11 (bullseye)"'],
  ])('%s is left alone', async (_, release) => {
    await server.shell('cp -P /etc/os-release /tmp/os-release && rm /etc/os-release');
    await server.exec('sh', '-c', 'printf "%s\\n" "$0" > /etc/os-release', release);
    const state = await stateOf(server);
    const { error } = await harden(doorTo(server));
    expect(error).toMatchObject({ code: 'UNSUPPORTED_OS' });
    expect(await stateOf(server)).toBe(state);
    await server.shell('rm /etc/os-release && cp -P /tmp/os-release /etc/os-release');
  });
});

test('what was kept is undone by one command', async () => {
  const wish = { runId: newId() };
  expect((await harden(doorTo(server), wish)).error).toBeUndefined();
  expect(await stateOf(server)).not.toBe(before);
  const folder = `/var/lib/slipway/hardening/${wish.runId}`;
  await server.exec('sh', `${folder}/switch`, folder, 'undo');
  expect(await stateOf(server)).toBe(before);
});
