import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { analyzeSnapshot } from '../../src/analysis/analyze.ts';
import { FolderSnapshot } from '../../src/analysis/snapshot/folder-snapshot.ts';
import type { SnapshotEntry } from '../../src/analysis/snapshot/snapshot.ts';
import { type Figure, spell } from './report.ts';
import { median } from './support/statistics.ts';

const FILES = 1000;
const FOLDERS = 40;
const MOST_MS = 100;

export const analysisNotes = [
  'Analysis: a folder of 1,000 files, a Next.js application with programs of 20 lines each, once its listing is read; the files themselves are',
  'read from the disk. The first round, which loads the code, is left out.',
];

export async function benchAnalysis(rounds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-'));
  try {
    writeApplication(folder);
    const onDisk = new FolderSnapshot(folder);
    const listed: SnapshotEntry[] = [];
    for await (const entry of onDisk.entries()) listed.push(entry);
    const snapshot = {
      entries: async function* () {
        yield* listed;
      },
      read: (path: string, maxBytes: number) => onDisk.read(path, maxBytes),
    };
    const times: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const startedAt = performance.now();
      await analyzeSnapshot(snapshot);
      times.push(performance.now() - startedAt);
    }
    return [figureOf(times.slice(1))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeApplication(folder: string): void {
  const manifest = { dependencies: { next: '15', pg: '8' }, scripts: { start: 'next start' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  for (let at = 0; at < FILES - 1; at += 1) {
    const place = join(folder, 'src', `m${at % FOLDERS}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `f${at}.ts`), `export const x = process.env.KEY_${at % 20} ?? ${at};\n`.repeat(20));
  }
}

const figureOf = (times: number[]): Figure => ({
  part: 'analysis',
  name: 'a folder of 1,000 files',
  value: `median of ${times.length}, from ${spell(Math.min(...times))} to ${spell(Math.max(...times))} ms`,
  score: median(times),
  unit: ' ms',
  target: { atMost: MOST_MS },
  details: { median: median(times), min: Math.min(...times), max: Math.max(...times) },
});
