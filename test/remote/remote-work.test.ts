import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Command } from '../../src/commands/command.ts';
import { LocalHost } from '../../src/remote/local-host.ts';
import { RemoteWork, type WorkOrder } from '../../src/remote/remote-work.ts';
import { eventually } from '../support/eventually.ts';
import { processesMarked, processesSaying } from '../support/processes.ts';
import { keeperOf, removeTools, workMachines } from '../support/work-machines.ts';

const isLinux = process.platform === 'linux';
const PATH = process.env.PATH ?? '';
afterAll(removeTools);

describe.each(workMachines)('work that is kept by %s', (_, isThere, machine) => {
  const it = isThere ? test : test.skip;
  let work: RemoteWork;
  beforeAll(() => {
    if (isThere) work = machine();
  });

  const order = (script: string, more: Partial<WorkOrder> = {}): WorkOrder => ({
    id: randomUUID(),
    command: Command.of('sh', '-c', script),
    timeoutMs: 60_000,
    ...more,
  });

  /** All that it says from the beginning, and how it ended. */
  const hear = async (id: string, offset = { stdout: 0, stderr: 0 }) => {
    const said = { stdout: '', stderr: '' };
    const end = await work.follow(id, {
      offset,
      onOutput: (chunk, from) => {
        said[from] += chunk.toString();
      },
    });
    return { ...said, ...end, offset };
  };

  it('is started once, followed from any byte, ends with its code, and is removed', async () => {
    const runs = join(tmpdir(), `slipway-runs-${randomUUID()}`);
    const asked = order(`echo run >>${runs}; chmod 666 ${runs}; echo one; echo two >&2; exit 3`);
    expect(await work.start(asked)).toBe('STARTED');
    expect(await work.start(asked)).toBe('KNOWN');
    expect(await hear(asked.id)).toMatchObject({ stdout: 'one\n', stderr: 'two\n', exitCode: 3, reason: 'EXIT' });
    expect(await hear(asked.id, { stdout: 2, stderr: 4 })).toMatchObject({ stdout: 'e\n', stderr: '', exitCode: 3 });
    expect(await work.start(asked)).toBe('KNOWN');
    expect(readFileSync(runs, 'utf8')).toBe('run\n');
    rmSync(runs);
    await work.remove(asked.id);
    expect(await work.status(asked.id)).toBeNull();
  });

  it('runs once if it is asked for ten times at once', async () => {
    const asked = order('echo "$$"');
    const answers = await Promise.all(Array.from({ length: 10 }, () => work.start(asked)));
    expect(answers.filter(answer => answer === 'STARTED')).toHaveLength(1);
    expect((await hear(asked.id)).stdout).toMatch(/^\d+\n$/);
    await work.remove(asked.id);
  });

  it('takes its words as they are, and its input, which nobody else can read and which does not stay', async () => {
    const words = ["it's", '$(id)', '`id`', 'a b', '', '-n', '*', '\n'];
    const stdin = Buffer.from('a secret \0 \xff', 'latin1');
    const asked = { ...order(''), command: Command.of('printf', '%s|', ...words).and(Command.of('cat')), stdin };
    await work.start(asked);
    const bytes: Buffer[] = [];
    const offset = { stdout: 0, stderr: 0 };
    await work.follow(asked.id, { offset, onOutput: chunk => void bytes.push(chunk) });
    expect(Buffer.concat(bytes)).toEqual(Buffer.concat([Buffer.from(words.map(word => `${word}|`).join('')), stdin]));
    expect(offset.stdout).toBe(Buffer.concat(bytes).length);
    await work.remove(asked.id);
  });

  it('keeps the order of its two streams where it is asked to merge them', async () => {
    const asked = order('for n in 1 2 3; do echo o$n; echo e$n >&2; done', { isMerged: true });
    await work.start(asked);
    expect(await hear(asked.id)).toMatchObject({ stdout: 'o1\ne1\no2\ne2\no3\ne3\n', stderr: '' });
    await work.remove(asked.id);
  });

  it('is cancelled with all that it started, even what ignores being asked and what left its session', async () => {
    const mark = `97${Math.floor(Math.random() * 1e6)}`;
    const script = `trap '' TERM; setsid sleep ${mark} & (sleep ${mark} & sleep ${mark}); echo up; wait`;
    const asked = order(`${script}; sleep ${mark}`);
    await work.start(asked);
    await eventually(() => processesSaying(`sleep\0${mark}`).length >= 3);
    await work.cancel(asked.id);
    expect(processesSaying(mark)).toEqual([]);
    expect(await work.status(asked.id)).toMatchObject({ reason: 'CANCELLED' });
    await work.remove(asked.id);
  });

  it('is never started once it was cancelled', async () => {
    const asked = order('echo late');
    await work.cancel(asked.id);
    expect(await work.start(asked)).toBe('KNOWN');
    expect(await hear(asked.id)).toMatchObject({ stdout: '', reason: 'CANCELLED' });
    await work.remove(asked.id);
  });

  it('ends by itself when its time is over, when nobody asks, and when it says too much', async () => {
    const long = 'echo begun; exec sleep 600';
    const late = order(long, { timeoutMs: 1000 });
    const abandoned = order(long, { leaseMs: 1000 });
    const loud = order('exec yes', { maxOutputBytes: 10_000 });
    for (const asked of [late, abandoned, loud]) await work.start(asked);
    const endOf = ({ id }: WorkOrder) =>
      eventually(async () => {
        const status = await work.status(id);
        return status !== 'RUNNING' && status;
      });
    expect(await endOf(late)).toMatchObject({ reason: 'TIMEOUT', exitCode: 143 });
    expect(await endOf(abandoned)).toMatchObject({ reason: 'ABANDONED', exitCode: 143 });
    expect(await endOf(loud)).toMatchObject({ reason: 'TOO_MUCH_OUTPUT' });
    for (const { id } of [late, abandoned, loud]) {
      expect(processesMarked('SLIPWAY_WORK', id)).toEqual([]);
      await work.remove(id);
    }
  });

  it('is not removed while it runs, and swept only when it has ended and lies there', async () => {
    const asked = order('exec sleep 600');
    await work.start(asked);
    await expect(work.remove(asked.id)).rejects.toMatchObject({ exitCode: 69 });
    const folder = folderOf(asked.id);
    const anHourAgo = Date.now() / 1000 - 3600;
    utimesSync(folder, anHourAgo, anHourAgo);
    await work.sweep(30 * 60_000);
    expect(await work.status(asked.id)).toBe('RUNNING');
    await work.cancel(asked.id);
    expect(await work.sweep(30 * 60_000)).toBe(0);
    utimesSync(folder, anHourAgo, anHourAgo);
    expect(await work.sweep(30 * 60_000)).toBe(1);
    expect(await work.status(asked.id)).toBeNull();
  });

  it('is ended when what keeps it is killed, and is then said to have vanished', async () => {
    const asked = order('exec sleep 600');
    await work.start(asked);
    process.kill(keeperOf(asked.id), 'SIGKILL');
    await eventually(() => processesMarked('SLIPWAY_WORK', asked.id).length === 0);
    expect(await work.status(asked.id)).toEqual({ exitCode: null, reason: 'VANISHED' });
    await work.remove(asked.id);
  });
});

const onThisMachine = isLinux ? describe : describe.skip;

onThisMachine('work on a server', () => {
  const work = new RemoteWork(new LocalHost(PATH));

  test('lies in a folder that only its owner can enter, and leaves no input behind', async () => {
    const id = randomUUID();
    await work.start({ id, command: Command.of('cat'), stdin: 'secret', timeoutMs: 10_000 });
    const folder = `/var/tmp/slipway-${process.getuid?.()}`;
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, id)).mode & 0o777).toBe(0o700);
    expect(existsSync(join(folder, id, 'input'))).toBe(false);
    await work.cancel(id);
    await work.remove(id);
  });

  test('never takes a number that was given to another process for its own', async () => {
    const id = randomUUID();
    await work.start({ id, command: Command.of('sleep', '600'), timeoutMs: 60_000 });
    const folder = folderOf(id);
    await work.cancel(id);
    rmSync(join(folder, 'exit'));
    const bystander = execFileSync('sh', ['-c', 'sleep 600 >/dev/null 2>&1 & echo $!']).toString().trim();
    const stale = `${bystander} 1 ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')}`;
    for (const name of ['keeper', 'leader']) writeFileSync(join(folder, name), stale);
    await work.cancel(id);
    expect(existsSync(`/proc/${bystander}`)).toBe(true);
    process.kill(Number(bystander));
    await work.remove(id);
  });

  test('refuses ids that are no UUIDs', async () => {
    await expect(work.status('../../etc')).rejects.toThrow('must be a UUID');
  });

  test('does not start on half of its input', async () => {
    const half = new LocalHost(PATH);
    const cutting = new RemoteWork({
      run: (command, options) => half.run(command, { ...options, stdin: 'hal' }),
      stream: (command, options) => half.stream(command, options),
      dial: port => half.dial(port),
      converse: command => half.converse(command),
    });
    const id = randomUUID();
    const started = cutting.start({ id, command: Command.of('cat'), stdin: 'half', timeoutMs: 10_000 });
    await expect(started).rejects.toMatchObject({ exitCode: 65 });
    expect(await work.status(id)).toBeNull();
  });
});

/** Below the folder of whichever user it was started as. */
const folderOf = (id: string): string =>
  [process.getuid?.(), 65_534].map(uid => `/var/tmp/slipway-${uid}/${id}`).find(existsSync) ?? '';
