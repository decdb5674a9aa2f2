import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { analyzeSnapshot } from '../../src/analysis/analyze.ts';
import { FolderSnapshot } from '../../src/analysis/snapshot/folder-snapshot.ts';

const run = promisify(execFile);
const analyze = (...words: string[]) => run(process.execPath, ['--no-warnings', 'scripts/analyze.mjs', ...words]);

describe('npm run analyze', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'analyze-'));
    await mkdir(join(root, 'site'));
    await mkdir(join(root, 'empty'));
    await writeFile(join(root, 'site', 'index.html'), '');
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it('prints one line per folder, with what the service would say', async () => {
    const folders = [join(root, 'site'), join(root, 'empty')];
    const { stdout } = await analyze('--json', ...folders);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as unknown);
    const result = await analyzeSnapshot(new FolderSnapshot(folders[0] as string), { name: 'site' });
    expect(lines).toEqual([
      { dir: folders[0], result: JSON.parse(JSON.stringify(result)) },
      {
        dir: folders[1],
        result: null,
        error: { code: 'REPOSITORY_EMPTY', message: expect.any(String), hint: expect.any(String) },
      },
    ]);
  });

  it('prints sentences for people, and fails where the analysis does', async () => {
    expect((await analyze(join(root, 'site'))).stdout).toContain(
      'language: static  (index.html: index.html is at the root)',
    );
    await expect(analyze(join(root, 'empty'))).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining('REPOSITORY_EMPTY'),
    });
    await expect(analyze()).rejects.toMatchObject({ code: 2 });
  });
});
