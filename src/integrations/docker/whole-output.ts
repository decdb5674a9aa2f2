import type { DockerApi, LogWish } from './docker-api.ts';

/**
 * All that a container says until it has ended, and its exit code. Docker before 23 leaves out the end of what it is followed to: so it is
 * asked once more, for what is behind the bytes that were heard.
 */
export async function wholeOutput(
  docker: DockerApi,
  name: string,
  { signal, onOutput }: Pick<LogWish, 'signal' | 'onOutput'>,
): Promise<number> {
  const heard = { stdout: 0, stderr: 0 };
  const until = signal ? { signal } : {};
  const listen: LogWish['onOutput'] = (chunk, from) => {
    heard[from] += chunk.length;
    return onOutput(chunk, from);
  };
  const hearRest: LogWish['onOutput'] = (chunk, from) => {
    const fresh = chunk.subarray(heard[from]);
    heard[from] -= chunk.length - fresh.length;
    return fresh.length > 0 ? onOutput(fresh, from) : undefined;
  };
  await docker.containerLogs(name, { ...until, follow: true, onOutput: listen });
  const exitCode = await docker.waitContainer(name, signal);
  await docker.containerLogs(name, { ...until, onOutput: hearRest });
  return exitCode;
}
