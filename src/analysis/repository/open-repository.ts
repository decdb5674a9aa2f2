import { setImmediate as nextTurn } from 'node:timers/promises';
import { AnalysisFailure, printablePath } from '../analysis-failure.ts';
import type { AnalysisLimits } from '../limits.ts';
import { collectEntries, type Deadline } from '../snapshot/collect-entries.ts';
import type { Snapshot, SnapshotEntry } from '../snapshot/snapshot.ts';
import { decodeHead, decodeText } from './decode-text.ts';
import { insideOf, type Reading, readingOrder } from './reading-order.ts';
import { type Refusal, Repository } from './repository.ts';

/** Lists and reads within the limits. What follows is pure: the rules see only what was read here. */
export async function openRepository(
  snapshot: Snapshot,
  { name, rootDirectory }: { readonly name: string; readonly rootDirectory: string },
  limits: AnalysisLimits,
  deadline: Deadline,
): Promise<Repository> {
  const matters = (path: string) => insideOf(path, rootDirectory) !== null;
  const entries = await collectEntries(snapshot, matters, limits, deadline);
  const sizes = new Map(entries.flatMap(({ path, kind, size }) => (kind === 'file' ? [[path, size] as const] : [])));
  if (sizes.size === 0) throw new AnalysisFailure('REPOSITORY_EMPTY', 'The repository has no files');
  const readings = readingOrder([...sizes.keys()], rootDirectory);
  const { texts, refusals } = await readWithin(snapshot, readings, sizes, limits, deadline);
  const repository = new Repository(name, entries, texts, { nesting: limits.nesting, deadline });
  repository.refusals.push(...refusals, ...refusedLinks(entries));
  return repository;
}

interface ReadTexts {
  readonly texts: Map<string, string>;
  readonly refusals: Refusal[];
}

const readsAtOnce = 16;

async function readWithin(
  snapshot: Snapshot,
  readings: readonly Reading[],
  sizes: ReadonlyMap<string, number>,
  limits: AnalysisLimits,
  deadline: Deadline,
): Promise<ReadTexts> {
  const read: ReadTexts = { texts: new Map(), refusals: [] };
  const affordable = withinBudget(readings, sizes, limits);
  for (let at = 0; at < affordable.length; at += readsAtOnce) {
    deadline.check();
    const batch = affordable.slice(at, at + readsAtOnce);
    const contents = await Promise.all(batch.map(({ path, kind }) => snapshot.read(path, bytesOf(kind, limits) + 1)));
    batch.forEach((reading, index) => {
      keep(reading, contents[index] ?? null, limits, read);
    });
    await nextTurn();
  }
  return read;
}

function withinBudget(
  readings: readonly Reading[],
  sizes: ReadonlyMap<string, number>,
  limits: AnalysisLimits,
): Reading[] {
  let bytesLeft = limits.totalBytes;
  return readings.slice(0, limits.reads).filter(({ path, kind }) => {
    bytesLeft -= Math.min(sizes.get(path) ?? 0, bytesOf(kind, limits));
    return bytesLeft >= 0;
  });
}

const isRead = (kind: Reading['kind']): boolean => kind === 'manifest' || kind === 'settings';

const bytesOf = (kind: Reading['kind'], limits: AnalysisLimits): number =>
  isRead(kind) ? limits.manifestBytes : limits.headBytes;

function keep({ path, kind }: Reading, bytes: Uint8Array | null, limits: AnalysisLimits, read: ReadTexts): void {
  if (bytes === null) return;
  if (!isRead(kind)) {
    read.texts.set(path, decodeHead(bytes));
  } else if (bytes.length > limits.manifestBytes) {
    read.refusals.push({
      file: path,
      code: 'FILE_TOO_LARGE',
      message: `${printablePath(path)} is too large to be read`,
    });
  } else if (!structured.test(path)) {
    read.texts.set(path, decodeText(bytes) ?? decodeHead(bytes));
  } else {
    const text = decodeText(bytes);
    if (text !== null) read.texts.set(path, text);
    else read.refusals.push({ file: path, code: 'NOT_UTF8', message: `${printablePath(path)} is not UTF-8 text` });
  }
}

/** Formats that are UTF-8 by definition; a comment in another alphabet spoils no Gemfile. */
const structured = /\.(?:jsonc?|toml|ya?ml|xml|csproj|fsproj|vbproj)$|(?:^|\/)Pipfile$/;

/** A link in the place of a manifest would change the answer if it were followed: the owner should know it was not. */
function refusedLinks(entries: readonly SnapshotEntry[]): Refusal[] {
  const links = entries.filter(({ kind }) => kind === 'symlink').map(({ path }) => path);
  const missed = readingOrder(links, '').filter(({ kind }) => kind === 'manifest');
  return missed.slice(0, 20).map(({ path }) => ({
    file: path,
    code: 'SYMLINK_IGNORED',
    message: `${printablePath(path)} is a symbolic link and was not followed`,
  }));
}
