import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makePlan } from '../../src/engine/hardening/plan.ts';
import { accessOf, lookAt, readFacts } from '../../src/engine/security/security-reader.ts';
import { SecurityStatus } from '../../src/entities/security.ts';
import { eventually } from '../support/eventually.ts';
import { auditSsh, doorTo, harden, lynisIndex, stateOf } from './support/hardened.ts';
import { LabServer } from './support/lab-server.ts';

const releases = (['bookworm', 'trixie'] as const).filter(release => LabServer.isBuilt(release));

test('the lab has a server to harden', () => {
  expect(releases).toContain('bookworm');
});

describe.each(releases)('a fresh server with Debian %s', release => {
  let server: LabServer;
  beforeAll(async () => {
    server = await LabServer.start({ release, hasDocker: true });
    await publish(server, 'inside', 8080);
    await publish(server, 'web', 80);
  });
  afterAll(() => server?.stop());

  const planFor = async (wish = {}) => {
    const host = await server.connect();
    try {
      return makePlan(await readFacts(host), accessOf(doorTo(server), host), wish);
    } finally {
      host.close();
    }
  };

  test('is found open, and after hardening shut, by us and by judges from outside', async () => {
    const before = await lookAt(doorTo(server));
    expect(before.score).toBeLessThan(65);
    expect(idsOf(before.checks, SecurityStatus.FAIL)).toEqual(expect.arrayContaining(OPEN_AT_FIRST));
    expect(await auditSsh(server)).not.toEqual([]);
    const indexBefore = await lynisIndex(server);

    const { error, looks } = await harden(doorTo(server));
    expect(error).toBeUndefined();
    expect(looks).toMatchObject([{ grade: 'A' }]);
    expect(looks[0]?.score).toBeGreaterThanOrEqual(90);
    expect(looks[0]?.checks.filter(({ fixable }) => fixable)).toEqual([]);

    expect(await auditSsh(server)).toEqual([]);
    const indexAfter = await lynisIndex(server);
    expect(Math.max(indexAfter - indexBefore - 15, indexAfter - 75)).toBeGreaterThanOrEqual(0);
  });

  test('a second time changes nothing', async () => {
    const state = await stateOf(server);
    expect((await planFor()).actions).toEqual([]);
    const { error, said } = await harden(doorTo(server));
    expect(error).toBeUndefined();
    expect(said).toMatchObject({ look: 'Nothing to change', packages: 'Nothing to do', arm: 'Nothing to do' });
    expect(await stateOf(server)).toBe(state);
  });

  test('ports that Docker publishes are reached where the firewall allows them, and nowhere else', async () => {
    expect((await harden(doorTo(server))).error).toBeUndefined();
    expect(await reaches(server, 80)).toBe(true);
    expect(await reaches(server, 8080)).toBe(false);
    const { error } = await harden(doorTo(server), { allowPorts: [8080] });
    expect(error).toBeUndefined();
    expect(await reaches(server, 8080)).toBe(true);
    expect(await reaches(server, 80)).toBe(true);
    expect((await planFor({ allowPorts: [8080] })).actions).toEqual([]);
    // Containers still reach each other by what they publish.
    const gateway = await server.shell('ip -4 -o addr show docker0 | awk \'{ sub(/\\/.*/, "", $4); print $4 }\'');
    const ask = ['/bin/busybox', 'wget', '-qO-', `http://${gateway}:80/`];
    expect(await server.exec('docker', 'exec', 'inside', ...ask)).toBe('web');
  });

  test('whoever guesses at SSH is shut out, we are not', async () => {
    const state = await server.exec('fail2ban-client', 'get', 'sshd', 'ignoreip');
    expect(state).toContain('127.0.0.0/8');
    const [from = ''] = (await server.shell("ss -Htn state established '( sport = :22 )' | awk '{print $4}'")).split(
      ':',
    );
    expect(state).toContain(from);
  });
});

const OPEN_AT_FIRST = [
  'ssh-root-login',
  'ssh-password-login',
  'ssh-key-exchange',
  'ssh-ciphers',
  'firewall',
  'docker-firewall',
  'fail2ban',
  'automatic-updates',
];

const idsOf = (checks: readonly { id: string; status: SecurityStatus }[], status: SecurityStatus): string[] =>
  checks.filter(check => check.status === status).map(({ id }) => id);

/** A container on the server that answers with its own name on a port of the server. */
async function publish(server: LabServer, name: string, port: number): Promise<void> {
  await server.shell(`
    docker image inspect tiny >/dev/null 2>&1 || {
      mkdir -p /tmp/tiny/bin && cp /bin/busybox /tmp/tiny/bin/ && tar -C /tmp/tiny -c . | docker import - tiny
    }
    docker run -d --name ${name} -p ${port}:80 tiny /bin/busybox sh -c \
      'while :; do echo -e "HTTP/1.0 200 OK\\r\\n\\r\\n${name}" | /bin/busybox nc -l -p 80; done'`);
  await eventually(() => reaches(server, port));
}

const reaches = (server: LabServer, port: number): Promise<boolean> =>
  fetch(`http://${server.address}:${port}/`, { signal: AbortSignal.timeout(2000) }).then(
    response => response.ok,
    () => false,
  );
