import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import type { Command } from '../../commands/command.ts';
import { packMore, packTree } from '../../commands/source.commands.ts';
import type { Host, RunOptions } from '../../remote/host.ts';
import { DeployFailure } from '../deploy/deploy-failure.ts';
import { folderInside, obstacleOn } from './tree-entries.ts';

export interface ArchiveOptions {
  /** The folder of the repository that is packed; empty for all of it. */
  contextDirectory: string;
  /** Texts by their paths in the archive. They stand in for whatever the repository has there. */
  extraFiles: Readonly<Record<string, string>>;
}

/** A tar, perhaps compressed by gzip, that can be sent as often as it is needed. */
export interface Archive {
  bytes: number;
  open(): AsyncIterable<Uint8Array>;
}

export interface ArchiveSpec extends ArchiveOptions {
  tree: string;
  /** Where archives are kept. */
  folder: string;
  seconds: number;
}

const PACK_MS = 10 * 60_000;

/** Less than this is sent faster than it is compressed. */
const WORTH_COMPRESSING = 256 * 1024;
const SAMPLE_BYTES = 1024 * 1024;
/** Pictures and archives do not get smaller: then compressing only costs time. */
const PAYS_BELOW = 0.8;

export async function makeArchive(host: Host, spec: ArchiveSpec, signal?: AbortSignal): Promise<Archive> {
  const context = await folderInside(spec.tree, spec.contextDirectory);
  if (context === undefined) throw noSuchFolder(spec.contextDirectory);
  const folder = await mkdtemp(join(spec.folder, 'archive-'));
  const file = join(folder, 'context.tar');
  const until = { timeoutMs: PACK_MS, ...(signal ? { signal } : {}) };
  const { seconds } = spec;
  const without = await replaced(context, spec.extraFiles);
  const extra = join(folder, 'extra');
  await pack(host, packTree({ file, folder: context, without, seconds }), until);
  if (await writeExtra(extra, spec.extraFiles))
    await pack(host, packMore({ file, folder: extra, without: [], seconds }), until);
  await rm(extra, { recursive: true, force: true });
  return archiveOf((await paysToCompress(file)) ? await compressed(file, signal) : file);
}

async function pack(host: Host, command: Command, options: RunOptions): Promise<void> {
  try {
    await host.run(command, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new DeployFailure('CLONE_FAILED', 'The source could not be packed for its way to the server', PACK_HINT, {
      cause: error,
    });
  }
}

const PACK_HINT = 'GNU tar must be installed where Slipway runs, and the disk there must have room for the source.';

async function archiveOf(file: string): Promise<Archive> {
  const { size } = await stat(file);
  return { bytes: size, open: () => createReadStream(file, { highWaterMark: 256 * 1024 }) };
}

/** What the repository has where extra files go: they are not written through its links, nor below its files. */
async function replaced(context: string, extraFiles: ArchiveOptions['extraFiles']): Promise<string[]> {
  const paths = Object.keys(extraFiles);
  const obstacles = await Promise.all(paths.map(path => obstacleOn(context, path)));
  return [...paths, ...obstacles.filter(path => path !== undefined)];
}

async function writeExtra(folder: string, extraFiles: ArchiveOptions['extraFiles']): Promise<boolean> {
  for (const [path, text] of Object.entries(extraFiles)) {
    const isPlain = path.split('/').every(part => part !== '' && part !== '.' && part !== '..');
    if (!isPlain) throw new TypeError('an extra file needs a plain path');
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return Object.keys(extraFiles).length > 0;
}

async function paysToCompress(file: string): Promise<boolean> {
  const { size } = await stat(file);
  if (size < WORTH_COMPRESSING) return false;
  const sample = await middleOf(file, size);
  const smaller = await promisify(gzip)(sample, { level: 1 });
  return smaller.length < sample.length * PAYS_BELOW;
}

/** The middle says more of a large archive than its head, where the small files of the root are. */
async function middleOf(file: string, size: number): Promise<Uint8Array> {
  const length = Math.min(size, SAMPLE_BYTES);
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, Math.floor((size - length) / 2));
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function compressed(file: string, signal?: AbortSignal): Promise<string> {
  const smaller = `${file}.gz`;
  const steps = [createReadStream(file), createGzip({ level: 1 }), createWriteStream(smaller)] as const;
  await pipeline(...steps, ...(signal ? [{ signal }] : []));
  await rm(file);
  return smaller;
}

const noSuchFolder = (path: string): DeployFailure =>
  new DeployFailure(
    'BUILD_FAILED',
    `The repository has no folder "${path.slice(0, 200)}" at this commit`,
    'Correct rootDirectory of the project, or the folder that the build is made from.',
  );
