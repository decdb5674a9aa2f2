import { expect, test } from '@jest/globals';
import { creationOf } from '../../../src/integrations/docker/container-spec.ts';

const bare = { name: 'app', image: 'app:1', env: {}, labels: {} };

test('everything that is asked for is said in the words of the engine', () => {
  const said = creationOf({
    ...{ name: 'app', image: 'app:1', command: ['serve', '-x'], entrypoint: ['tool'], user: '1000' },
    ...{ env: { KEY: "it's = $x\n" }, labels: { 'slipway.role': 'app' }, workingDirectory: '/app', stopSeconds: 7 },
    network: { name: 'inner', aliases: ['web'] },
    ports: [{ hostIp: '127.0.0.1', hostPort: 20_000, containerPort: 3000 }],
    ...{ cpus: 0.5, memoryMb: 256, restart: 'unless-stopped' },
    volumes: [{ name: 'data', path: '/data', isReadOnly: true }],
  });
  expect(said).toMatchObject({
    ...{ Image: 'app:1', Cmd: ['serve', '-x'], Entrypoint: ['tool'], User: '1000', WorkingDir: '/app', StopTimeout: 7 },
    ...{ Env: ["KEY=it's = $x\n"], Labels: { 'slipway.role': 'app' }, ExposedPorts: { '3000/tcp': {} } },
    HostConfig: {
      NetworkMode: 'inner',
      PortBindings: { '3000/tcp': [{ HostIp: '127.0.0.1', HostPort: '20000' }] },
      ...{ NanoCpus: 500_000_000, Memory: 256 * 1024 * 1024, MemorySwap: 256 * 1024 * 1024, PidsLimit: 4096 },
      RestartPolicy: { Name: 'unless-stopped' },
      Mounts: [{ Type: 'volume', Source: 'data', Target: '/data', ReadOnly: true }],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
      ...{ SecurityOpt: ['no-new-privileges'], Init: true },
    },
    NetworkingConfig: { EndpointsConfig: { inner: { Aliases: ['web'] } } },
  });
});

test('what is not asked for is neither limited nor open, and never without rotation of its log', () => {
  expect(creationOf(bare)).toMatchObject({
    ExposedPorts: {},
    HostConfig: {
      ...{ NetworkMode: 'bridge', PortBindings: {}, NanoCpus: 0, Memory: 0, RestartPolicy: { Name: 'no' } },
      LogConfig: { Config: { 'max-size': '10m' } },
    },
  });
  expect(creationOf({ ...bare, isHostNetwork: true })).toMatchObject({ HostConfig: { NetworkMode: 'host' } });
});

test.each([
  ['NUL in a value', { KEY: 'a\0b' }],
  ['half a character', { KEY: 'a\ud800' }],
  ['= in a name', { 'A=B': '' }],
  ['NUL in a name', { 'A\0': '' }],
  ['no name', { '': 'x' }],
])('%s is refused, for no environment could hold it', (_, env) => {
  expect(() => creationOf({ ...bare, env })).toThrow(TypeError);
});
