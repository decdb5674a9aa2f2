import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HealthCheck } from '../../entities/environment.ts';
import { isOutOfReach } from '../../remote/persist.ts';

/** What an application answered; without a status, why it gave none. */
export type HealthAnswer = { status: number } | { status: null; fault: string };

/** Asks an application once, over a connection that somebody else opens. */
export async function askHealth(
  dial: () => Promise<Duplex>,
  { path, timeoutSeconds }: Pick<HealthCheck, 'path' | 'timeoutSeconds'>,
): Promise<HealthAnswer> {
  const signal = AbortSignal.timeout(timeoutSeconds * 1000);
  try {
    const connection = await dial();
    return { status: await ask(connection, path, signal).finally(() => connection.destroy()) };
  } catch (error) {
    if (signal.aborted) return { status: null, fault: `no answer within ${timeoutSeconds} s` };
    if (isServerGone(error)) throw error;
    return { status: null, fault: 'no answer: nothing listens there, or it hung up' };
  }
}

export const saidOf = (answer: HealthAnswer): string => (answer.status === null ? answer.fault : String(answer.status));

export const isHealthy = (answer: HealthAnswer): boolean =>
  answer.status !== null && answer.status >= 200 && answer.status < 400;

function ask(connection: Duplex, path: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'localhost', 'user-agent': 'Slipway health check', connection: 'close' };
    const asked = request({ createConnection: () => connection, path, headers, signal }, response => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.once('error', reject);
    asked.end();
  });
}

/** An application that hangs up looks like a cut, too: only what the connection to the server itself says counts. */
const isServerGone = (error: unknown): boolean =>
  isOutOfReach(error) && (error as NodeJS.ErrnoException).code === undefined;
