import { buildCommand, buildFiles } from '../../commands/build.commands.ts';
import type { Prefix, WorkOffset } from '../../commands/work.commands.ts';
import type { OutputStream } from '../../remote/host.ts';
import { RemoteWork, type StreamedInput, type WorkOrder } from '../../remote/remote-work.ts';
import { runReattaching, type UseHost } from '../../remote/run-reattaching.ts';
import { buildFailure } from './build-failure.ts';

/** A tar, or one that gzip packed. */
export type BuildContext = StreamedInput;

export interface BuildOrder {
  use: UseHost;
  /** Who to be, as `dockerPrefix` says. */
  prefix: Prefix;
  /** A UUID: the same id is the same build, also for a process that takes it up after another. */
  id: string;
  tag: string;
  labels: Readonly<Record<string, string>>;
  /** Its path in the context. */
  dockerfile: string;
  context: BuildContext;
  /** Each is a secret of the build by its name; all of them together are the secret `slipway-variables`, for a shell to read. */
  secrets: Readonly<Record<string, string>>;
  /** Arguments that are no secret. Names that would steer Docker itself are passed as secrets only. */
  args: Readonly<Record<string, string>>;
  /** The stage to stop at; the last one unless told otherwise. */
  target?: string | null;
  noCache?: boolean;
  timeoutMs?: number;
  onOutput?: (chunk: Buffer, from: OutputStream) => void | Promise<void>;
  /** Cancels the build: nothing of it runs afterwards, and it fails with a `RemoteFailure` ABORTED. */
  signal?: AbortSignal;
  /** Ends the following alone and fails with its reason. */
  leave?: AbortSignal;
  /** Where to go on; it is moved along. */
  offset?: WorkOffset;
}

const TIMEOUT_MS = 60 * 60_000;
const OUTPUT_BYTES = 512 * 1024 * 1024;

/** Fails with a `DeployFailure` where the build does, and with a `RemoteFailure` LOST where the server is, or has forgotten it. */
export async function buildImage(order: BuildOrder): Promise<void> {
  const { use, prefix, id, onOutput, signal, leave, offset } = order;
  const options = Object.fromEntries(
    Object.entries({ onOutput, signal, leave, offset }).filter(([, value]) => value !== undefined),
  );
  try {
    await runReattaching(use, workOf(order), { prefix, ...options });
  } catch (error) {
    if (!leave?.aborted || signal?.aborted) await forget(use, prefix, id);
    throw buildFailure(error);
  }
  await forget(use, prefix, id);
}

const workOf = ({
  id,
  context,
  secrets,
  args,
  tag,
  labels,
  dockerfile,
  noCache,
  target,
  timeoutMs,
}: BuildOrder): WorkOrder => ({
  id,
  command: buildCommand({ tag, labels, dockerfile, noCache: noCache ?? false, target: target ?? null }),
  stdin: context,
  files: buildFiles({ secrets, args }),
  timeoutMs: timeoutMs ?? TIMEOUT_MS,
  maxOutputBytes: OUTPUT_BYTES,
  isMerged: true,
});

/** What runs is not removed. What cannot be removed now is swept away later; how the build ended is what counts. */
async function forget(use: UseHost, prefix: Prefix, id: string): Promise<void> {
  await use(host => new RemoteWork(host, prefix).remove(id)).catch(() => undefined);
}
