import { randomUUID } from 'node:crypto';
import { tellRuns } from '../../support/runs.ts';
import { SseClient } from '../../support/sse-client.ts';
import type { Driver, Sample } from './driver.ts';

/** Opens a stream, brings something about, and holds the head and each message against the document. */
export async function driveStream(
  driver: Driver,
  operationId: string,
  sample: Sample,
  bringAbout: () => Promise<unknown>,
  count = 1,
): Promise<void> {
  const path = driver.urlOf(operationId, sample);
  const stream = await SseClient.open(`${driver.app.url}/api/v1${path}`, {
    token: driver.person.token,
    ...(sample.body ? { body: sample.body } : {}),
  });
  const method = sample.body ? 'POST' : 'GET';
  const headers = new Headers(stream.headers as Record<string, string>);
  driver.check.check(method, path, { status: stream.status, headers, body: undefined });
  await bringAbout();
  for (const message of await stream.read(count)) driver.check.checkMessage(method, path, message);
  await stream.cut();
}

export async function driveEvents(driver: Driver): Promise<void> {
  const { app, person } = driver;
  const tell = () => tellRuns(app, person.workspaceId, 1);
  await driveStream(driver, 'events', { query: { kinds: 'run_updated,project_updated' } }, tell);
  await driver.refuse('events', 401, { token: null });
  await driver.refuse('events', 400, { query: { kinds: 'weather_updated' } });
  await driver.refuse('events', 400, { query: { after: 'nonsense' } });
  await driver.refuse('events', 410, { query: { after: `00000000-0000-7000-8000-${randomUUID().slice(-12)}` } });
}
