import { tellRuns } from '../../support/runs.ts';
import type { Driver } from './driver.ts';

interface Identified {
  id: string;
}

export async function driveRuns(driver: Driver): Promise<void> {
  const [id = ''] = await tellRuns(driver.app, driver.person.workspaceId, 2);
  await driver.drive('runs', { query: { kind: 'RESEAL', status: 'QUEUED', limit: '1' } });
  await driver.refuse('runs', 400, { query: { status: 'BROKEN' } });
  await driver.drive('run', { params: { id } });
  await driver.drive('cancelRun', { params: { id } });
  await driver.refuse('cancelRun', 409, { params: { id } }, 'a run that is over');
}

export async function driveAudit(driver: Driver): Promise<void> {
  const entries = await driver.drive<Identified[]>('audit', { query: { actor: driver.person.id, limit: '2' } });
  await driver.drive('auditEntry', { params: { id: entries.body[0]?.id ?? '' } });
}
