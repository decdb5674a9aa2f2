import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Keyring } from '../../src/security/keyring.ts';
import { Secret } from '../../src/security/secret.ts';
import { keyPlace } from '../../src/services/environment-domain.service.ts';
import { makeCertificate } from '../support/certificate.ts';
import { EnvironmentBench } from '../support/environments.ts';
import { KEY } from '../support/settings.ts';

let bench: EnvironmentBench;
let projectId: string;
const folder = mkdtempSync(join(tmpdir(), 'slipway-domains-'));

beforeAll(async () => {
  bench = await EnvironmentBench.start();
  projectId = await bench.project();
}, 60_000);
afterAll(async () => {
  await bench.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(['rest', 'graphql'] as const)('names at the door of %s', door => {
  const set = (id: string, wish: object) => bench.call(door, 'Mutation.setEnvironmentDomain', { id, ...wish });
  const remove = (id: string, hostname: string) =>
    bench.call(door, 'Mutation.deleteEnvironmentDomain', { id, hostname });
  const name = (label: string) => `${label}.${door}.example.org`;

  test('several are given, changed and taken away', async () => {
    const { id } = await bench.environment({ projectId });
    expect(await set(id, { hostname: name('shop') })).toMatchObject({ status: 200 });
    const second = await set(id, { hostname: name('store'), ssl: 'OFF', forceHttps: false, redirectWww: true });
    expect(second.value).toMatchObject({
      domains: [
        { hostname: name('shop'), ssl: 'AUTO', forceHttps: true, redirectWww: false },
        { hostname: name('store'), ssl: 'OFF', forceHttps: false, redirectWww: true },
      ],
      version: 3,
    });
    const third = await set(id, { hostname: name('store'), ssl: 'AUTO' });
    expect(third.value).toMatchObject({ domains: [{}, { ssl: 'AUTO', forceHttps: false, redirectWww: true }] });
    expect((await remove(id, name('shop'))).value).toEqual({ id });
    expect(await remove(id, name('shop'))).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    const left = await bench.call(door, 'Query.environment', { id });
    expect(left.value).toMatchObject({ domains: [{ hostname: name('store') }] });
  });

  test('one name leads to one environment', async () => {
    const [one, two] = [await bench.environment({ projectId }), await bench.environment({ projectId })];
    await set(one.id, { hostname: name('only') });
    expect(await set(two.id, { hostname: name('only') })).toMatchObject({ status: 409, code: 'NAME_TAKEN' });
    await remove(one.id, name('only'));
    expect(await set(two.id, { hostname: name('only') })).toMatchObject({ status: 200 });
  });

  test('a certificate of one’s own must fit, and its key never comes back', async () => {
    const { id } = await bench.environment({ projectId });
    const { cert, key } = makeCertificate(folder, `DNS:${name('own')}`);
    const other = makeCertificate(folder, `DNS:${name('other')}`);
    const hostname = name('own');
    const ask = (wish: object) => set(id, { hostname, ssl: 'CUSTOM', certificate: cert, privateKey: key, ...wish });
    const refused: [object, string][] = [
      [{ certificate: null }, 'certificate'],
      [{ privateKey: null }, 'privateKey'],
      [{ certificate: 'none' }, 'certificate'],
      [{ privateKey: 'none' }, 'privateKey'],
      [{ privateKey: other.key }, 'privateKey'],
      [{ hostname: name('elsewhere') }, 'certificate'],
      [{ ssl: 'AUTO' }, 'ssl'],
    ];
    for (const [wish, field] of refused)
      expect(await ask(wish)).toMatchObject({ status: 400, code: 'BAD_INPUT', fields: [{ field }] });
    const kept = await ask({});
    expect(kept).toMatchObject({ status: 200, value: { domains: [{ hostname, ssl: 'CUSTOM' }] } });
    expect(kept.text).not.toContain('PRIVATE KEY');
    const stored = () =>
      bench.app.sql<{ id: string; certificate: string; private_key: string }>(
        'select id, certificate, private_key from custom_certificate where environment_id = $1',
        [id],
      );
    const [row] = await stored();
    expect(row?.certificate).toBe(cert);
    expect(new Keyring(KEY).open(new Secret(row?.private_key ?? ''), keyPlace(row?.id ?? ''))).toBe(key);
    expect(await ask({ certificate: null, privateKey: null, forceHttps: false })).toMatchObject({ status: 200 });
    expect(await stored()).toHaveLength(1);
    await set(id, { hostname, ssl: 'AUTO' });
    expect(await stored()).toHaveLength(0);
  });

  test.each([
    'localhost',
    'a_b.example.org',
    'Shop.example.org',
    '*.example.org',
    '127.0.0.1',
    'a..b',
    'x.org\n',
    '-a.org',
  ])('refuses %j', async hostname => {
    const { id } = await bench.environment({ projectId });
    expect(await set(id, { hostname })).toMatchObject({ status: 400, fields: [{ field: 'hostname' }] });
  });
});

describe.each(['rest', 'graphql'] as const)('services at the door of %s', door => {
  const set = (id: string, wish: object, token?: string) =>
    bench.call(door, 'Mutation.setEnvironmentServices', { id, ...wish }, token);
  const db = { name: 'db', kind: 'POSTGRES', version: '17' };

  test('are the whole wanted list', async () => {
    const environment = await bench.environment({ projectId });
    const { id } = environment;
    const cache = { name: 'cache', kind: 'REDIS' };
    expect((await set(id, { services: [db, cache] })).value).toMatchObject({
      services: [db, { ...cache, version: null }],
      needsDeploy: true,
    });
    expect((await set(id, { services: [cache] })).value).toMatchObject({ services: [cache] });
  });

  test('what has run is taken away from somebody who says so, and may', async () => {
    const environment = await bench.environment({ projectId });
    const { id, slug } = environment;
    await set(id, { services: [db] });
    await bench.makeLive(environment, { serverId: await bench.server() });
    expect(await set(id, { services: [] })).toMatchObject({ status: 409, code: 'CONFIRMATION_NEEDED' });
    const another = { services: [{ name: 'db', kind: 'MYSQL' }] };
    expect(await set(id, another)).toMatchObject({ status: 409, code: 'CONFIRMATION_NEEDED' });
    expect(await set(id, { services: [{ ...db, version: '18' }] })).toMatchObject({ status: 200 });
    const project = await bench.app.rest<{ slug: string }>('GET', `/projects/${projectId}`, { token: bench.ann.token });
    const confirm = `${project.body.slug}/${slug}`;
    const bob = await bench.app.join(bench.ann, 'MEMBER');
    expect(await set(id, { services: [], confirm }, bob.token)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(await set(id, { services: [], confirm })).toMatchObject({ status: 200, value: { services: [] } });
  });

  test.each([
    ['two of one name', [db, { ...db, kind: 'REDIS', version: null }], 'services'],
    ['a kind there is not', [{ name: 'db', kind: 'ORACLE' }], 'services'],
    ['a version that is long dead', [{ ...db, version: '9.6' }], 'services.0.version'],
    ['a version that is none', [{ ...db, version: '17; rm' }], 'services.0.version'],
    ['an image instead of a version', [{ ...db, version: 'latest' }], 'services.0.version'],
    ['a name that is an option', [{ ...db, name: '--privileged' }], 'services.0.name'],
  ])('refuses %s', async (_, services, field) => {
    const { id } = await bench.environment({ projectId });
    const refused = await set(id, { services });
    expect(refused).toMatchObject({ status: 400, code: 'BAD_INPUT' });
    expect(refused.fields?.map(fault => fault.field).join()).toContain(field);
  });
});
