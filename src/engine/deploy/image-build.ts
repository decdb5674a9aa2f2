import type { Prefix, WorkOffset } from '../../commands/work.commands.ts';
import type { OutputStream } from '../../remote/host.ts';
import type { UseHost } from '../../remote/run-reattaching.ts';

/** What is built from: a tar, or one that gzip packed. It may be asked for more than once, if the connection is lost while it is sent. */
export interface BuildContext {
  bytes: number;
  open(): AsyncIterable<Uint8Array>;
}

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
  /** Each is a secret of the build by its name; all of them together are the secret `slipway-variables`. */
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

/** Fails with a `DeployFailure` where the build does, and with a `RemoteFailure` LOST where the server is. */
export async function buildImage(_order: BuildOrder): Promise<void> {
  throw new Error('Not built yet');
}
