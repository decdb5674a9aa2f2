import type { TestApp } from './create-app.ts';
import { eventually } from './eventually.ts';

/**
 * From now on these jobs run only when a test sends them. The clock may have struck already: it says so some seconds later, by a job of
 * its own.
 */
export async function stillClock(service: TestApp, names: readonly string[]): Promise<void> {
  for (const name of names) await service.app.queue.boss.unschedule(name);
  const open = `select 1 from pgboss.job where name = any($1) and state < 'completed'`;
  await eventually(async () => (await service.sql(open, [[...names, '__pgboss__send-it']])).length === 0, 30_000);
}
