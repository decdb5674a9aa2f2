import type { Command } from '../commands/command.ts';
import { type Host, RemoteFailure, type RunOptions, type RunResult } from './host.ts';

const DEFAULT_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Hears a command out, as long as it does not say too much. */
export async function collect(
  stream: Host['stream'],
  command: Command,
  { maxOutputBytes = DEFAULT_OUTPUT_BYTES, ...options }: RunOptions,
): Promise<RunResult> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const { stderrTail } = await stream(command, {
    ...options,
    onOutput: (chunk, from) => {
      if (from === 'stderr') return;
      bytes += chunk.length;
      if (bytes > maxOutputBytes) throw new RemoteFailure(command.program, null, '', 'TOO_MUCH_OUTPUT');
      chunks.push(chunk);
    },
  });
  return { stdout: Buffer.concat(chunks), stderrTail };
}
