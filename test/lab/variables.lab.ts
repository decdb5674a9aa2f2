import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LocalBench, webApp } from './support/deploy-bench.ts';

let bench: LocalBench;
beforeAll(async () => {
  bench = await LocalBench.start();
});
afterAll(() => bench?.stop());

const SECRET = 'correct-horse-battery-staple-9';

/** Says its environment, as it sees it. */
const tellsAll = webApp('', {
  'server.js': `require('http').createServer((q, s) => s.end(JSON.stringify(process.env))).listen(8080)`,
});

const everyByte = Array.from({ length: 255 }, (_, index) => String.fromCodePoint(index + 1)).join('');

const values = fc.sample(fc.string({ unit: 'binary', maxLength: 300 }), { numRuns: 300, seed: 1 }).map(clean);

/** What can be a value at all: no NUL, and no half of a character. */
function clean(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

test('values arrive byte for byte, whatever they hold', async () => {
  const wanted = [
    ...[everyByte, '', ' ', '\n', '"', "'", '`', '$HOME', `\${X:-y}`, '$(id)', '#not a comment', '{"a": ["b\\n"]}'],
    ...[
      'line one\nline two\n',
      '\ttab\r\n',
      'größe 漢字 🚢',
      'it\'s $"quoted"',
      'a=b=c',
      '\\',
      '\\n',
      '%25',
      '!history',
    ],
    ...values,
  ];
  const variables = wanted.map((value, index) => ({ key: `V${index}`, value }));
  const { id } = await bench.environment('variables', tellsAll, { variables });
  expect(await bench.deploy(id)).toMatchObject({ status: 'LIVE' });
  const seen = JSON.parse((await bench.page(id)).slice(4)) as Record<string, string>;
  expect(variables.filter(({ key, value }) => seen[key] !== value)).toEqual([]);
});

test('a secret of the build is in the build, and neither in its log, nor in the image, nor on a command line', async () => {
  const Dockerfile = [
    'FROM node:24-bookworm-slim',
    'WORKDIR /app',
    'COPY . .',
    'ARG PLAIN',
    'RUN --mount=type=secret,id=TOKEN cat /run/secrets/TOKEN; echo "plain $PLAIN"; sha256sum /run/secrets/TOKEN > digest; base64 /run/secrets/TOKEN; sleep 2',
    'EXPOSE 8080',
    'CMD ["node", "server.js"]',
  ].join('\n');
  const files = webApp('', {
    Dockerfile,
    'server.js': `require('http').createServer((q, s) => s.end(require('fs').readFileSync('digest', 'utf8'))).listen(8080)`,
  });
  const variables = [
    { key: 'TOKEN', value: SECRET, scope: 'BUILD' },
    { key: 'PLAIN', value: 'shown', secret: false, scope: 'BUILD' },
  ];
  const { id } = await bench.environment('secrets', files, { variables });
  // Brackets keep the watch itself from bearing the words it looks for.
  const watched = bench.server.shell(
    `for i in $(seq 100); do ps axww -o args; sleep 0.05; done | grep -c '[c]orrect-horse-battery' || true`,
  );
  const deployment = await bench.deploy(id);
  expect(deployment).toMatchObject({ status: 'LIVE' });
  expect(await bench.page(id)).toContain(createHash('sha256').update(SECRET).digest('hex'));
  const log = await bench.log(id, deployment.id);
  expect(log).toContain('plain shown');
  expect(log).toContain('[secret]');
  expect(log).not.toContain(SECRET);
  expect(log).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, 20));
  const history = await bench.server.shell(
    `docker history --no-trunc ${deployment.image}; docker inspect ${deployment.image}`,
  );
  expect(history).not.toContain(SECRET);
  expect(await watched).toBe('0');
});
