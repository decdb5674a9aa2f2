import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type LogLimits, LogWriter } from '../../../src/engine/deploy/log-writer.ts';
import { Masker } from '../../../src/engine/deploy/masker.ts';
import { TakenOver } from '../../../src/engine/deploy/taken-over.ts';
import { type Deployment, DeploymentPhase, DeploymentStatus } from '../../../src/entities/deployment.ts';
import { type Environment } from '../../../src/entities/environment.ts';
import { logBell } from '../../../src/events/deployment-story.ts';
import { type Person, TestApp } from '../../support/create-app.ts';
import { changeDeployment, makeDeployment, makeEnvironment } from '../../support/deployments.ts';
import { eventually } from '../../support/eventually.ts';

let app: TestApp;
let ann: Person;
let deployment: Deployment;
beforeAll(async () => {
  app = await TestApp.start();
  ann = await app.register();
});
afterAll(() => app.stop());

const fresh = async (): Promise<Deployment> => {
  const environment: Environment = await makeEnvironment(app, ann);
  return makeDeployment(app, environment, { status: DeploymentStatus.RUNNING, fence: 3 });
};
beforeEach(async () => {
  deployment = await fresh();
});

interface Message {
  seq: number;
  kind: string;
  status: string;
  phase: string | null;
  message: string;
  stream: string | null;
}

const writerOf = (limits?: LogLimits, fence = 3, { id } = deployment): LogWriter =>
  new LogWriter(
    app.app.database.orm.em,
    { id, fence },
    { masker: new Masker(['hunter2-hunter2']), ...(limits && { limits }) },
  );

const stored = (id = deployment.id): Promise<Message[]> =>
  app.sql<Message>(
    'select seq, kind, status, phase, message, stream from deployment_message where deployment_id = $1 order by seq',
    [id],
  );

const logged = async (id = deployment.id): Promise<string[]> =>
  (await stored(id)).filter(({ kind }) => kind === 'LOG').map(({ message }) => message);

test('lines are stored in order behind the states, numbered without a gap, with phase and stream', async () => {
  const writer = writerOf();
  await writer.line('Fetching the source');
  await writer.write(Buffer.from('one\ntw'), 'stdout');
  await writer.write(Buffer.from('careful\n'), 'stderr');
  await writer.write(Buffer.from('o\n'), 'stdout');
  await writer.flush();
  await changeDeployment(app, deployment, { phase: DeploymentPhase.BUILDING }, 'Building');
  await writer.write(Buffer.from('the end'), 'stdout');
  await writer.flush();
  const said = (await stored()).map(({ seq, kind, phase, stream, message }) => [seq, kind, phase, stream, message]);
  expect(said).toEqual([
    [1, 'STATUS', null, null, 'Queued'],
    [2, 'LOG', null, null, 'Fetching the source'],
    [3, 'LOG', null, 'STDOUT', 'one'],
    [4, 'LOG', null, 'STDERR', 'careful'],
    [5, 'LOG', null, 'STDOUT', 'two'],
    [6, 'STATUS', 'BUILDING', null, 'Building'],
    [7, 'LOG', 'BUILDING', 'STDOUT', 'the end'],
  ]);
});

test('each line has the moment it was printed', async () => {
  const before = Date.now();
  const writer = writerOf();
  await writer.write(Buffer.from('now\n'), 'stdout');
  const after = Date.now();
  await writer.flush();
  const [row] = await app.sql<{ at: Date }>(
    `select at from deployment_message where deployment_id = $1 and kind = 'LOG'`,
    [deployment.id],
  );
  expect(row?.at.getTime()).toBeGreaterThanOrEqual(before);
  expect(row?.at.getTime()).toBeLessThanOrEqual(after);
});

test('without a flush a line is stored soon, and the bell rings', async () => {
  const rung = new Set<string>();
  const leave = await app.app.database.listener.listen('slipway_rows', key => rung.add(key));
  await writerOf().write(Buffer.from('soon\n'), 'stdout');
  await eventually(async () => (await logged()).includes('soon') && rung.has(logBell(deployment.id)));
  leave();
});

test('secrets are hidden over every border of chunks', async () => {
  const text = Buffer.from('password=hunter2-hunter2;\n');
  const writer = writerOf();
  for (let cut = 1; cut < text.length; cut += 1) {
    await writer.write(text.subarray(0, cut), 'stdout');
    await writer.write(text.subarray(cut), 'stdout');
  }
  await writer.line('Slipway says hunter2-hunter2');
  await writer.flush();
  const lines = await logged();
  expect(lines).toHaveLength(text.length);
  expect(new Set(lines)).toEqual(new Set(['password=[secret];', 'Slipway says [secret]']));
});

test('whatever bytes a program prints are stored, however they come', async () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(chunks, async parts => {
      const [whole, inParts] = [await fresh(), await fresh()];
      const [one, other] = [writerOf(undefined, 3, whole), writerOf(undefined, 3, inParts)];
      await one.write(Buffer.concat(parts), 'stdout');
      for (const part of parts) await other.write(Buffer.from(part), 'stdout');
      await Promise.all([one.flush(), other.flush()]);
      expect(await logged(inParts.id)).toEqual(await logged(whole.id));
    }),
    { numRuns: 25 },
  );
});

test('a long line is stored in parts of 8 KB, cut after its secrets were hidden', async () => {
  const writer = writerOf();
  await writer.write(Buffer.from(`${'é'.repeat(4090)} hunter2-hunter2 ${'y'.repeat(9000)}\n`), 'stdout');
  await writer.flush();
  const lines = await logged();
  expect(lines.join('')).toBe(`${'é'.repeat(4090)} [secret] ${'y'.repeat(9000)}`);
  for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(8192);
});

test('what is too much is left out, but for its end; what Slipway says stays', async () => {
  const writer = writerOf({ lines: 100, bytes: 1_000_000, tailLines: 10 });
  for (let line = 1; line <= 1000; line += 1) await writer.write(Buffer.from(`line ${line}\n`), 'stdout');
  await writer.line('Built');
  await writer.flush();
  const lines = await logged();
  expect(lines.slice(0, 2)).toEqual(['line 1', 'line 2']);
  expect(lines.slice(99)).toEqual([
    'line 100',
    'The log is full: what programs print is left out from here on, but for its end',
    'Built',
    '… 890 lines are left out here',
    ...Array.from({ length: 10 }, (_, index) => `line ${991 + index}`),
  ]);
  const next = writerOf({ lines: 100, bytes: 1_000_000, tailLines: 10 });
  await next.write(Buffer.from('another worker\n'), 'stdout');
  await next.flush();
  expect((await logged()).at(-1)).toBe('another worker');
});

test('bytes are limited as lines are', async () => {
  const writer = writerOf({ lines: 1000, bytes: 10_000, tailLines: 2 });
  for (let line = 0; line < 100; line += 1) await writer.write(Buffer.from(`${'x'.repeat(1000)}\n`), 'stderr');
  await writer.flush();
  expect(await logged()).toHaveLength(14);
});

test.each([
  ['somebody else took it up', { fence: 4 }],
  ['it is over', { isFinished: true, status: DeploymentStatus.FAILED }],
])('nothing is written when %s', async (_, change) => {
  const writer = writerOf();
  await writer.line('before');
  await writer.flush();
  await changeDeployment(app, deployment, change, 'changed');
  await writer.write(Buffer.from('too late\n'), 'stdout');
  await expect(writer.flush()).rejects.toThrow(TakenOver);
  await expect(writer.line('and later')).rejects.toThrow(TakenOver);
  await expect(writer.write(Buffer.from('x'), 'stdout')).rejects.toThrow(TakenOver);
  expect(await logged()).toEqual(['before']);
  expect((await stored()).map(({ seq }) => seq)).toEqual([1, 2, 3]);
});
