import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { analyzeSnapshot } from '../../src/analysis/analyze.ts';
import { FolderSnapshot } from '../../src/analysis/snapshot/folder-snapshot.ts';
import type { SnapshotEntry } from '../../src/analysis/snapshot/snapshot.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'analysis-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(path: string, text = ''): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

async function listing(): Promise<Map<string, SnapshotEntry>> {
  const entries = new Map<string, SnapshotEntry>();
  for await (const entry of new FolderSnapshot(root).entries()) entries.set(entry.path, entry);
  return entries;
}

const text = async (path: string, maxBytes = 100): Promise<string | null> => {
  const bytes = await new FolderSnapshot(root).read(path, maxBytes);
  return bytes && new TextDecoder().decode(bytes);
};

describe('a folder', () => {
  it('is listed with kinds and sizes, without what tools left in it', async () => {
    await write('a/b.txt', 'hello');
    await write('.git/config', 'x');
    await write('node_modules/x/index.js', 'x');
    const entries = await listing();
    expect([...entries.keys()].sort()).toEqual(['.git', 'a', 'a/b.txt', 'node_modules']);
    expect(entries.get('a/b.txt')).toEqual({ path: 'a/b.txt', kind: 'file', size: 5 });
  });

  it('hands out the head of a file and no more', async () => {
    await write('a.txt', 'hello world');
    expect(await text('a.txt', 5)).toBe('hello');
    expect(await text('nothing.txt')).toBeNull();
    expect(await text('.')).toBeNull();
  });

  it('never follows a link, neither to a file nor through a folder', async () => {
    await symlink('/etc/passwd', join(root, 'package.json'));
    await symlink('/etc', join(root, 'config'));
    await symlink('.', join(root, 'loop'));
    await write('b.txt', 'x');
    const entries = await listing();
    expect([...entries.values()].map(({ path, kind }) => `${path} ${kind}`).sort()).toEqual([
      'b.txt file',
      'config symlink',
      'loop symlink',
      'package.json symlink',
    ]);
    expect(await text('package.json')).toBeNull();
    expect(await text('config/passwd')).toBeNull();
    expect(await text('../../../../../../etc/passwd')).toBeNull();
    await expect(analyzeSnapshot(new FolderSnapshot(root))).rejects.toMatchObject({ code: 'SYMLINK_IGNORED' });
  });

  it('does not wait for a pipe', async () => {
    await promisify(execFile)('mkfifo', [join(root, 'package.json')]);
    expect((await listing()).get('package.json')?.kind).toBe('other');
    expect(await text('package.json')).toBeNull();
  });

  it('does not read a file of a gigabyte', async () => {
    const file = await open(join(root, 'package.json'), 'w');
    await file.truncate(1024 ** 3);
    await file.close();
    const before = process.memoryUsage().rss;
    await expect(analyzeSnapshot(new FolderSnapshot(root))).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
  });

  it('stops at the limit', async () => {
    await Promise.all(Array.from({ length: 300 }, (_, at) => write(`f${at}`)));
    await expect(analyzeSnapshot(new FolderSnapshot(root), { limits: { entries: 200 } })).rejects.toMatchObject({
      code: 'TOO_MANY_FILES',
    });
  });

  it('that is not there is told', async () => {
    await expect(analyzeSnapshot(new FolderSnapshot(join(root, 'no')))).rejects.toMatchObject({
      code: 'FOLDER_UNREADABLE',
    });
  });
});
