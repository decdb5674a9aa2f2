import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Command } from '../../src/commands/command.ts';
import type { RemoteWork, WorkOrder } from '../../src/remote/remote-work.ts';
import { eventually } from '../support/eventually.ts';
import { processesMarked } from '../support/processes.ts';
import { keeperOf, removeTools, workMachines } from '../support/work-machines.ts';

afterAll(removeTools);

const order = (script: string, more: Partial<WorkOrder> = {}): WorkOrder => ({
  id: randomUUID(),
  command: Command.of('sh', '-c', script),
  timeoutMs: 60_000,
  ...more,
});

describe.each(workMachines)('what work is given, by %s', (_, isThere, machine) => {
  const it = isThere ? test : test.skip;
  let work: RemoteWork;
  beforeAll(() => {
    if (isThere) work = machine();
  });

  const hear = async (id: string) => {
    let stdout = '';
    const onOutput = (chunk: Buffer) => {
      stdout += chunk.toString();
    };
    const end = await work.follow(id, { offset: { stdout: 0, stderr: 0 }, onOutput });
    return { stdout, ...end };
  };

  it('reads more than memory should hold, and reads it whole', async () => {
    const piece = Buffer.alloc(256 * 1024, 'streamed ');
    const open = async function* () {
      for (let count = 0; count < 40; count += 1) yield piece;
    };
    const asked = { ...order('wc -c'), stdin: { bytes: 40 * piece.length, open } };
    expect(await work.start(asked)).toBe('STARTED');
    expect((await hear(asked.id)).stdout.trim()).toBe(String(40 * piece.length));
    const unopened = {
      bytes: 1,
      open: (): never => {
        throw new Error('what is known is not sent again');
      },
    };
    expect(await work.start({ ...asked, stdin: unopened })).toBe('KNOWN');
    await work.remove(asked.id);
    const short = { ...order('cat'), stdin: { bytes: 2 ** 30, open } };
    await expect(work.start(short)).rejects.toMatchObject({ exitCode: 65 });
    expect(await work.status(short.id)).toBeNull();
  });

  it('has files for itself alone, whatever is in them, which are gone with it', async () => {
    const files = { empty: '', 'secret.KEY': `it's "$(id)" \n ü`, LONG: 'x'.repeat(100_000) };
    const look = 'cd "$SLIPWAY_FILES" && stat -c "%a %s %n" . * && cat secret.KEY && pwd && cat';
    const asked = { ...order(look), files, stdin: 'input' };
    await work.start(asked);
    const { stdout, exitCode } = await hear(asked.id);
    expect(exitCode).toBe(0);
    const [folder = '', ...lines] = stdout.split('\n');
    expect(folder).toMatch(/^700 \d+ \.$/);
    expect(lines.slice(0, 3)).toEqual([`600 100000 LONG`, '600 0 empty', '600 17 secret.KEY']);
    expect(lines.slice(3).join('\n')).toMatch(/^it's "\$\(id\)" \n ü\/.*\ninput$/s);
    expect(existsSync(lines.at(-2)?.replace(/^.*ü/, '') ?? '')).toBe(false);
    await work.remove(asked.id);
  });

  it.each<[string, string, (asked: WorkOrder) => Promise<unknown>]>([
    ['it was cancelled, though it did not want to', "trap '' TERM", ({ id }) => work.cancel(id)],
    ['its time was over', ':', () => Promise.resolve()],
    ['what keeps it was killed', ':', async ({ id }) => process.kill(keeperOf(id), 'SIGKILL')],
  ])('leaves no file behind when %s', async (_, first, end) => {
    const asked = order(`${first}; echo "$SLIPWAY_FILES"; while :; do sleep 1; done`, {
      files: { KEY: 'secret' },
      timeoutMs: 2000,
    });
    await work.start(asked);
    let folder = '';
    const following = work.follow(asked.id, {
      offset: { stdout: 0, stderr: 0 },
      onOutput: chunk => {
        folder += chunk.toString();
      },
    });
    await eventually(() => folder.endsWith('\n'));
    folder = folder.trim();
    expect(existsSync(join(folder, 'KEY'))).toBe(true);
    await end(asked);
    await following;
    await eventually(() => !existsSync(folder));
    expect(processesMarked('SLIPWAY_WORK', asked.id)).toEqual([]);
    await work.remove(asked.id);
  });
});
