import { expect, test } from '@jest/globals';
import { buildFailure } from '../../../src/engine/deploy/build-failure.ts';
import { DeployFailure } from '../../../src/engine/deploy/deploy-failure.ts';
import { type FailureReason, RemoteFailure } from '../../../src/remote/host.ts';

const after = (tail: string, reason: FailureReason = 'EXIT') => buildFailure(new RemoteFailure('sh', 1, tail, reason));

const OLD = `#7 [4/4] RUN npm run build
#7 sha256:69c8193bb711fc71daf5297865fd058d0d1e19945653676bf083d54cfb004db8
#7 0.315 > tsc
#7 0.915 src/a.ts(1,1): error TS1005
#7 ERROR: executor failed running [/bin/sh -c npm run build]: exit code: 2
------
 > [4/4] RUN npm run build:
------
executor failed running [/bin/sh -c npm run build]: exit code: 2
`;

const NEW = `#9 [4/4] RUN npm run build
#9 0.915 src/a.ts(1,1): error TS1005
#9 ERROR: process "/bin/sh -c npm run build" did not complete successfully: exit code: 2
------
 > [4/4] RUN npm run build:
0.915 src/a.ts(1,1): error TS1005
------
Dockerfile:4
--------------------
   3 |     COPY . .
   4 | >>> RUN npm run build
--------------------
ERROR: failed to solve: process "/bin/sh -c npm run build" did not complete successfully: exit code: 2
`;

test.each([
  ['an old BuildKit', OLD, 'executor failed running [/bin/sh -c npm run build]: exit code: 2'],
  ['a new one', NEW, 'failed to solve: process "/bin/sh -c npm run build" did not complete successfully: exit code: 2'],
])('a step that fails is told by what %s makes of it, and what the step said', (_, tail, verdict) => {
  const failure = after(tail);
  expect(failure).toBeInstanceOf(DeployFailure);
  expect(failure).toMatchObject({
    code: 'BUILD_FAILED',
    message: expect.stringMatching(/error TS1005$/),
    hint: expect.any(String),
  });
  expect((failure as DeployFailure).message.startsWith(`${verdict} · `)).toBe(true);
});

test.each([
  ['OUT_OF_DISK', 'write /app/x: no space left on device'],
  ['OUT_OF_DISK', 'npm ERR! code ENOSPC\nexit code: 1'],
  ['OUT_OF_DISK', 'cat: write error: No space left on device\nthe input did not arrive whole'],
  ['OUT_OF_MEMORY', '#5 0.6 Killed\nexecutor failed running [/bin/sh -c make]: exit code: 137'],
  ['OUT_OF_MEMORY', 'collect2: fatal error: ld terminated with signal: killed'],
  ['OUT_OF_MEMORY', 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'],
  ['BUILD_FAILED', 'failed to read dockerfile: open Dockerfile: no such file or directory'],
])('%s: %s', (code, tail) => {
  expect(after(tail)).toMatchObject({ code, hint: expect.any(String) });
});

test('a Docker that cannot build is told how to', () => {
  const said = 'ERROR: BuildKit is enabled but the buildx component is missing or broken.';
  expect(after(said)).toMatchObject({ code: 'BUILD_FAILED', hint: expect.stringContaining('docker-buildx') });
});

test('too long and too much are told as such; a lost server, a cancel and faults of ours pass', () => {
  expect(after('', 'TIMEOUT')).toMatchObject({ code: 'TIMED_OUT' });
  expect(after('', 'TOO_MUCH_OUTPUT')).toMatchObject({ code: 'BUILD_FAILED' });
  for (const reason of ['LOST', 'ABORTED'] as const) expect(after('', reason)).toMatchObject({ reason });
  const ours = new Error('ours');
  expect(buildFailure(ours)).toBe(ours);
});

test('what is said stays short, on one line, and can be stored', () => {
  const { message } = after(`${'x'.repeat(5000)}\0\u0007\ud800`) as DeployFailure;
  expect(message.length).toBeLessThanOrEqual(1000);
  expect(message).not.toMatch(/[\p{Cc}]/u);
  expect(message.isWellFormed()).toBe(true);
});
