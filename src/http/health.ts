import type { RequestHandler } from 'express';

export interface Readiness {
  database(): Promise<void>;
  queue(): Promise<void>;
  isStopping(): boolean;
}

/** The process lives. */
export const healthz: RequestHandler = (_, response) => void response.json({ status: 'ok' });

/** It can do its work: each part says so, or what is wrong with it. */
export const readyz =
  (readiness: Readiness): RequestHandler =>
  async (_, response) => {
    const [database, queue] = await Promise.all([check(readiness.database), check(readiness.queue)]);
    const isReady = database === 'ok' && queue === 'ok' && !readiness.isStopping();
    response.status(isReady ? 200 : 503).json({ status: isReady ? 'ok' : 'unavailable', database, queue });
  };

async function check(part: () => Promise<void>): Promise<'ok' | 'unavailable'> {
  const deadline = new Promise<never>((_, reject) => setTimeout(() => reject(new Error('no answer')), 2000).unref());
  return Promise.race([part(), deadline]).then(
    () => 'ok' as const,
    () => 'unavailable' as const,
  );
}
