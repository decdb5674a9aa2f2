import { analyzeSnapshot } from '../../src/analysis/analyze.ts';
import type { Snapshot, SnapshotEntry } from '../../src/analysis/snapshot/snapshot.ts';
import { analyze, type Files, MemorySnapshot } from '../support/memory-snapshot.ts';

/** Hostile repositories: bounded in time and memory, and told apart by a code. */
const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);

const aliasBomb = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...Array.from({ length: 12 }, (_, at) => {
    const [name, of] = [String.fromCharCode(98 + at), String.fromCharCode(97 + at)];
    return `${name}: &${name} [${Array(9).fill(`*${of}`).join(',')}]`;
  }),
  'services: *m',
].join('\n');

async function within(milliseconds: number, work: () => Promise<unknown>): Promise<unknown> {
  const start = performance.now();
  const outcome = await work().catch((fault: unknown) => fault);
  expect(performance.now() - start).toBeLessThan(milliseconds);
  return outcome;
}

describe('a file made to hurt', () => {
  it.each<[string, Files, string]>([
    ['a bomb of YAML aliases', { 'compose.yaml': aliasBomb }, 'YAML_ALIASES'],
    [
      'the same beside an honest manifest',
      { 'package.json': { scripts: { start: 'x' } }, 'pnpm-workspace.yaml': aliasBomb },
      'YAML_ALIASES',
    ],
    ['JSON without a floor', { 'package.json': nested('[', ']', 100_000) }, 'FILE_TOO_NESTED'],
    ['objects without a floor', { 'package.json': '{"a":'.repeat(50_000) }, 'FILE_TOO_NESTED'],
    ['TOML without a floor', { 'pyproject.toml': `a = ${nested('[', ']', 100_000)}` }, 'FILE_TOO_NESTED'],
    ['TOML tables without a floor', { 'Cargo.toml': `a = ${nested('{b=', '}', 50_000)}` }, 'FILE_TOO_NESTED'],
    ['YAML without a floor', { 'compose.yaml': `services: ${nested('[', ']', 10_000)}` }, 'FILE_TOO_NESTED'],
    [
      'YAML that steps in',
      { 'compose.yaml': Array.from({ length: 140 }, (_, at) => `${' '.repeat(at * 2)}a:`).join('\n') },
      'FILE_TOO_NESTED',
    ],
    ['YAML that dashes', { 'compose.yaml': '- '.repeat(10_000) }, 'FILE_TOO_NESTED'],
    ['YAML without an end', { 'compose.yaml': `services:\n${'  a: {image: x}\n'.repeat(9_000)}` }, 'FILE_TOO_LARGE'],
    ['XML without a floor', { 'pom.xml': nested('<a>', '</a>', 50_000) }, 'FILE_MALFORMED'],
    [
      'a billion laughs',
      { 'pom.xml': `<!DOCTYPE a [<!ENTITY b "${'x'.repeat(999)}"><!ENTITY c "${'&b;'.repeat(999)}">]><a>&c;</a>` },
      'FILE_MALFORMED',
    ],
    ['a manifest of 100 MB', { 'package.json': new Uint8Array(100 * 1024 * 1024).fill(32) }, 'FILE_TOO_LARGE'],
    ['a manifest that is no text', { 'package.json': new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]) }, 'NOT_UTF8'],
    ['a manifest that is no JSON', { 'package.json': '{"scripts": ' }, 'FILE_MALFORMED'],
    ['no manifest at all', { 'notes.txt': 'x' }, 'NOTHING_RECOGNISED'],
    ['nothing at all', {}, 'REPOSITORY_EMPTY'],
  ])('%s', async (_what, files, code) => {
    expect(await within(2_000, () => analyze(files))).toMatchObject({ code, hint: expect.stringMatching(/\.$/) });
  });

  it('does not count where nobody looks', async () => {
    const files = {
      'package.json': { scripts: { start: 'x' } },
      'test/fixtures/compose.yaml': aliasBomb,
      'test/fixtures/package.json': nested('[', ']', 1_000),
      'video.mp4': new Uint8Array(50 * 1024 * 1024),
    };
    const snapshot = new MemorySnapshot(files);
    expect(await analyzeSnapshot(snapshot)).toMatchObject({ language: 'node' });
    expect(snapshot.reads).not.toContain('video.mp4');
  });

  it('does not reach what every object has', async () => {
    const poisoned =
      '{"__proto__":{"scripts":{"start":"evil"}},"constructor":{"prototype":{"x":1}},"workspaces":{"__proto__":["a"]}}';
    expect(await analyze({ 'package.json': poisoned, 'index.js': '' })).toMatchObject({
      startCommand: 'node index.js',
    });
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe('text made to keep a pattern busy', () => {
  const long = 60_000;
  const texts = [
    ' ',
    'a',
    '=',
    "'",
    '"',
    '/*',
    '//',
    '${',
    '#',
    '\\',
    '-',
    'gem ',
    'os.environ[',
    'process.env.',
    'x = ',
    '\n',
    ' \n',
    'a=',
    '<',
    '((',
    '&&',
    'import ',
  ];
  const names = [
    ...[
      'package.json',
      'Procfile',
      '.env.example',
      'Dockerfile',
      'requirements.txt',
      'pyproject.toml',
      'Gemfile',
      'Gemfile.lock',
      'go.mod',
    ],
    ...[
      'build.gradle',
      'settings.gradle',
      'pom.xml',
      'mix.exs',
      'compose.yaml',
      'next.config.js',
      'vite.config.ts',
      'app.py',
      'main.go',
    ],
    ...[
      'src/main.rs',
      'server.js',
      'settings.py',
      'build.sbt',
      'CMakeLists.txt',
      'Package.swift',
      'a.csproj',
      '.tool-versions',
      'Staticfile',
    ],
  ];

  it.each(texts)('%j, in every file we read', async part => {
    const text = part.repeat(Math.ceil(long / part.length));
    for (const name of names) {
      await within(3_000, () => analyze({ [name]: text, 'index.html': '' }));
    }
  });

  it('names after names in package.json', async () => {
    const scripts = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`s${at}`, `npm run s${at + 1}`]));
    await within(1_000, () =>
      analyze({ 'package.json': { scripts: { start: 'npm run s0', build: 'npm run build', ...scripts } } }),
    );
  });

  it('stars after stars in a workspace', async () => {
    const members = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [`${'a/'.repeat(30)}${at}/package.json`, {}]),
    );
    await within(2_000, () =>
      analyze({ 'package.json': { workspaces: Array(50).fill(`${'**/a/'.repeat(20)}*`) }, ...members }),
    );
  });
});

/** A listing that is made while it is read: nothing of it is held before the limit says stop. */
class EndlessSnapshot implements Snapshot {
  handedOut = 0;
  readonly #entry: (at: number) => SnapshotEntry;

  constructor(entry: (at: number) => SnapshotEntry) {
    this.#entry = entry;
  }

  async *entries(): AsyncIterable<SnapshotEntry> {
    for (;;) yield this.#entry(this.handedOut++);
  }

  async read(): Promise<Uint8Array> {
    return new Uint8Array();
  }
}

describe('a listing made to hurt', () => {
  const file = (path: string): SnapshotEntry => ({ path, kind: 'file', size: 1 });

  it.each<[string, (at: number) => SnapshotEntry, string, number]>([
    ['without end', at => file(`f${at}`), 'TOO_MANY_FILES', 50_001],
    ['of folders without end', at => ({ path: `d${at}`, kind: 'folder', size: 0 }), 'TOO_MANY_FILES', 50_001],
    ['of what is skipped without end', at => file(`node_modules/f${at}`), 'TOO_MANY_FILES', 300_001],
    ['with a name of a megabyte', () => file('x'.repeat(1_000_000)), 'NAME_TOO_LONG', 1],
    ['with a name of 300 bytes', () => file('ü'.repeat(150)), 'NAME_TOO_LONG', 1],
    ['as deep as it goes', () => file(`${'a/'.repeat(50)}b`), 'TOO_DEEP', 1],
  ])('%s', async (_what, entry, code, seen) => {
    const snapshot = new EndlessSnapshot(entry);
    expect(await within(8_000, () => analyzeSnapshot(snapshot))).toMatchObject({ code });
    expect(snapshot.handedOut).toBe(seen);
  });

  it('that takes too long', async () => {
    const slow = new EndlessSnapshot(at => file(`f${at}`));
    await expect(analyzeSnapshot(slow, { limits: { milliseconds: 0, entries: 1e9 } })).rejects.toMatchObject({
      code: 'TIMED_OUT',
    });
  });

  it('with 50,000 honest files costs no more than a moment', async () => {
    const files = Object.fromEntries(Array.from({ length: 49_990 }, (_, at) => [`src/m${at % 500}/f${at}.ts`, 'x']));
    await within(8_000, () => analyze({ ...files, 'package.json': { scripts: { start: 'x' } } }));
  });

  it('with thousands of manifests reads no more than it may', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [`p${at}/package.json`, '{"scripts":{"start":"x"}}']),
    );
    const snapshot = new MemorySnapshot(files);
    const result = (await within(8_000, () => analyzeSnapshot(snapshot))) as { apps: unknown[] };
    expect(snapshot.reads.length).toBeLessThanOrEqual(500);
    expect(result.apps.length).toBeLessThanOrEqual(50);
  });

  it('with names nobody can type leaves them out', async () => {
    const result = await analyze({
      'index.html': '',
      'a\nb/package.json': '{}',
      '../up/package.json': '{}',
      '/etc/package.json': '{}',
    });
    expect(result).toMatchObject({ language: 'static', apps: [] });
  });

  it('with a link in the place of a manifest says so', async () => {
    await expect(analyzeSnapshot(new MemorySnapshot({ 'a.txt': '' }, ['package.json']))).rejects.toMatchObject({
      code: 'SYMLINK_IGNORED',
    });
  });
});
