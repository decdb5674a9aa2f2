import fc from 'fast-check';
import { stringify } from 'yaml';
import { BUILD_KEYS, SERVICE_KEYS } from '../../../src/engine/compose/compose-keys.ts';
import type { ComposeProject, ComposeService } from '../../../src/engine/compose/compose-project.ts';
import { DeployFailure } from '../../../src/engine/deploy/deploy-failure.ts';
import { read } from './read.ts';

/** Whatever is written into a compose file: it is refused, or what is left of it cannot reach the server. */
const honoured = [...SERVICE_KEYS.honoured, ...BUILD_KEYS.honoured, 'driver', 'aliases', 'type', 'source', 'target'];
const refused = [...Object.keys(SERVICE_KEYS.refused), ...Object.keys(BUILD_KEYS.refused)];
const key = fc.oneof(fc.constantFrom(...honoured), fc.constantFrom(...refused), fc.string({ maxLength: 8 }));
const word = fc.constantFrom(
  ...[
    'host',
    'bind',
    'volume',
    'data',
    '/',
    '..',
    '.',
    '~',
    '/var/run/docker.sock',
    'data:/x',
    '/:/x',
    './a:/b',
    '$UP',
  ],
  ...[
    `\${UP:-/}:/x`,
    'true',
    'nginx',
    'web',
    'no',
    '80:80',
    'A=b',
    'https://x/y.git',
    'container:x',
    '\0',
    '--privileged',
  ],
);
const scalar = fc.oneof(word, fc.string(), fc.boolean(), fc.integer(), fc.constant(null));
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}));
const service = fc.dictionary(fc.oneof(fc.constantFrom(...honoured), key), value, { maxKeys: 2 });
const file = fc.record({
  services: fc.dictionary(
    fc.constantFrom('web', 'db', 'worker'),
    service.map(each => ({ image: 'x', ...each })),
    {
      minKeys: 1,
    },
  ),
  volumes: fc.oneof(fc.constant({ data: null }), fc.dictionary(fc.constantFrom('data', 'more'), value)),
});

test('nothing that is let through reaches the server', async () => {
  let letThrough = 0;
  const check = async (text: string) => {
    const outcome = await read(text, { variables: { UP: '../..' } }).catch((error: unknown) => error);
    if (outcome instanceof DeployFailure) return expect(outcome.code).toBe('COMPOSE_REFUSED');
    if (outcome instanceof Error) throw outcome;
    letThrough += 1;
    return (outcome as ComposeProject).services.forEach(expectHarmless);
  };
  await fc.assert(
    fc.asyncProperty(file, each => check(stringify(each))),
    { numRuns: 1000 },
  );
  expect(letThrough).toBeGreaterThan(20);
});

function expectHarmless({ name, image, build, volumes, tmpfs, aliases, user }: ComposeService): void {
  expect(name).toMatch(/^[\w.-]+$/);
  if (image !== null) expect(image).toMatch(/^[a-z0-9][\w./:@-]*$/);
  if (build !== null) expect(build.context).toMatch(/^(?!\/|.*\.\.(?:\/|$))/);
  for (const { volume, path } of volumes) {
    expect(['data', 'more']).toContain(volume);
    expect(path).toMatch(/^\/(?!.*\.\.\/)/);
  }
  for (const path of Object.keys(tmpfs)) expect(path).toMatch(/^\//);
  for (const alias of aliases) expect(alias).toMatch(/^[\w.-]+$/);
  if (user !== null) expect(user).toMatch(/^[\w.:-]+$/);
}
