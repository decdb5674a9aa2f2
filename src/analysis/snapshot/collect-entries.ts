import { AnalysisFailure, printablePath } from '../analysis-failure.ts';
import type { AnalysisLimits } from '../limits.ts';
import { isEntered, type Snapshot, type SnapshotEntry } from './snapshot.ts';

export interface Deadline {
  check(): void;
}

export function startDeadline(milliseconds: number): Deadline {
  const end = performance.now() + milliseconds;
  return {
    check() {
      if (performance.now() > end) {
        throw new AnalysisFailure('TIMED_OUT', `The analysis took longer than ${milliseconds} ms and was stopped`);
      }
    },
  };
}

/** All that matters, or a failure: half a listing would make half an answer look like a whole one. */
export async function collectEntries(
  snapshot: Snapshot,
  matters: (path: string) => boolean,
  limits: AnalysisLimits,
  deadline: Deadline,
): Promise<SnapshotEntry[]> {
  const kept: SnapshotEntry[] = [];
  let seen = 0;
  for await (const entry of snapshot.entries()) {
    seen += 1;
    if (seen % 256 === 0) deadline.check();
    refuseHugeName(entry.path, limits);
    if (!isInFolderNeverEntered(entry.path) && matters(entry.path)) kept.push(entry);
    // More may be skipped than kept: a provider lists a committed node_modules too, and all that is beside the root.
    if (kept.length > limits.entries || seen > limits.entries * 6) {
      throw new AnalysisFailure('TOO_MANY_FILES', `The repository has more than ${limits.entries} files and folders`);
    }
  }
  return kept.filter(entry => isTypable(entry.path));
}

function refuseHugeName(path: string, limits: AnalysisLimits): void {
  const names = path.length > limits.pathBytes ? [] : path.split('/');
  const isTooLong = names.length === 0 || names.some(name => isLonger(name, limits.nameBytes));
  if (isTooLong) {
    throw new AnalysisFailure('NAME_TOO_LONG', `A file name is too long: ${printablePath(path)}`);
  }
  if (names.length > limits.depth) {
    throw new AnalysisFailure('TOO_DEEP', `Folders are nested more than ${limits.depth} deep: ${printablePath(path)}`);
  }
}

/** No character takes more than three bytes of UTF-8 for each of its units, so short names need not be measured. */
const isLonger = (name: string, bytes: number): boolean => name.length * 3 > bytes && Buffer.byteLength(name) > bytes;

function isInFolderNeverEntered(path: string): boolean {
  const folders = path.split('/').slice(0, -1);
  return folders.some(name => !isEntered(name));
}

/** A name with control characters, or that was not UTF-8, cannot be a manifest and must not reach a Dockerfile. */
const isTypable = (path: string): boolean => !/[\p{Cc}\ufffd\u2028\u2029]/u.test(path) && isPlainPath(path);

const isPlainPath = (path: string): boolean =>
  !path.startsWith('/') && path.split('/').every(name => name !== '' && name !== '.' && name !== '..');
