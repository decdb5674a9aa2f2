import { basename, resolve } from 'node:path';
import { AnalysisFailure } from './analysis-failure.ts';
import type { AnalysisResult } from './analysis-result.ts';
import { analyzeSnapshot } from './analyze.ts';
import { FolderSnapshot } from './snapshot/folder-snapshot.ts';

export interface FolderAnalysis {
  readonly dir: string;
  readonly result: AnalysisResult | null;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
}

/** One folder after the other: the same analysis as the service's, for people and for scripts. */
export async function* analyzeFolders(folders: readonly string[]): AsyncGenerator<FolderAnalysis> {
  for (const dir of folders) yield await analyzeFolder(dir);
}

async function analyzeFolder(dir: string): Promise<FolderAnalysis> {
  try {
    const path = resolve(dir);
    return { dir, result: await analyzeSnapshot(new FolderSnapshot(path), { name: basename(path) }) };
  } catch (fault) {
    if (!(fault instanceof AnalysisFailure)) throw fault;
    return { dir, result: null, error: { code: fault.code, message: fault.message, hint: fault.hint } };
  }
}
