import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildCommand, buildFiles } from '../../src/commands/build.commands.ts';

describe('the words of a build', () => {
  const spec = {
    tag: 'slipway/e:d',
    labels: { 'slipway.environment': 'e' },
    dockerfile: 'sub/Dockerfile',
    noCache: true,
  };

  test('are those of Docker behind the script, and none of a variable', () => {
    expect(buildCommand(spec).words.slice(3)).toEqual([
      ...['slipway', 'sub/Dockerfile', '--progress=plain', '--tag', 'slipway/e:d'],
      ...['--label', 'slipway.environment=e', '--no-cache'],
    ]);
    expect(buildCommand({ ...spec, noCache: false }).words).not.toContain('--no-cache');
  });
});

describe('the files of a build', () => {
  test('are its secrets, each and all together, and its arguments', () => {
    expect(
      buildFiles({ secrets: { KEY: "it's", EMPTY: '' }, args: { PUBLIC: 'x', BUILD_VARIABLES: 'digest' } }),
    ).toEqual({
      'arg.PUBLIC': 'x',
      'arg.BUILD_VARIABLES': 'digest',
      'secret.KEY': "it's",
      'secret.EMPTY': '',
      'secret.slipway-variables': `export KEY='it'\\''s'\nexport EMPTY=''\n`,
    });
  });

  test.each([
    ...['LD_PRELOAD', 'PATH', 'HOME', 'DOCKER_HOST', 'BUILDKIT_HOST', 'BUILDX_BUILDER', 'HTTPS_PROXY', 'http_proxy'],
    ...['IFS', 'ENV', 'BASH_ENV', 'UID', 'SSL_CERT_FILE', 'SLIPWAY_FILES', 'GODEBUG', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  ])('%s would steer what builds: it is a secret, not an argument', name => {
    const files = buildFiles({ secrets: {}, args: { [name]: 'x' } });
    expect(Object.keys(files)).toEqual([`secret.${name}`, 'secret.slipway-variables']);
  });

  test.each(['a.b', '../x', 'A B', '', '1A', 'A\n'])('%j is no name of a variable', name => {
    expect(() => buildFiles({ secrets: { [name]: 'x' }, args: {} })).toThrow('is no name of a variable');
  });

  test('a shell reads back from the one what is in each, whatever it is', () => {
    const value = fc.string({ unit: 'binary', maxLength: 200 }).map(each => each.replaceAll('\0', '').toWellFormed());
    fc.assert(
      fc.property(value, value, (ONE, TWO) => {
        const all = buildFiles({ secrets: { ONE, TWO }, args: {} })['secret.slipway-variables'] ?? '';
        const script = `eval "$(cat; echo :)" && printf '%s\\0' "$ONE" "$TWO"`;
        expect(execFileSync('sh', ['-c', script], { input: all }).toString()).toBe(`${ONE}\0${TWO}\0`);
      }),
      { numRuns: 100 },
    );
  });
});
