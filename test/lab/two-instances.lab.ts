import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { restCall } from '../support/doors.ts';
import { eventually } from '../support/eventually.ts';
import { GitServer } from '../support/git-server.ts';
import { Service } from '../support/service.ts';
import { KEY } from '../support/settings.ts';
import { cloneDatabase, dropDatabase } from '../support/test-database.ts';
import {
  addServer,
  type Call,
  DeployBench,
  type DeploymentAnswer,
  gitSettings,
  IMAGES,
} from './support/deploy-bench.ts';
import { slowApp, slowEnvironment } from './support/kill-in-phase.ts';
import { LabServer } from './support/lab-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'slipway-two-'));
let databaseUrl: string;
let git: GitServer;
let server: LabServer;
const services: Service[] = [];

const start = (index: number) =>
  Service.start({
    ...gitSettings(git),
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(folder, String(index)),
    MASTER_KEY: KEY,
    JWT_SECRET: KEY,
    ACCESS_TOKEN_TTL: '5h',
  });

beforeAll(async () => {
  databaseUrl = await cloneDatabase();
  git = await GitServer.start();
  server = await LabServer.start({ hasDocker: true });
  await server.load(...IMAGES);
  services.push(await start(0));
  services.push(await start(1));
});
afterAll(async () => {
  await Promise.all(services.map(service => service.kill()));
  await server?.stop();
  await git?.stop();
  await dropDatabase(databaseUrl);
  rmSync(folder, { recursive: true, force: true });
});

interface Row {
  environment_id: string;
  status: string;
  started_at: Date;
  finished_at: Date;
  ran: number;
}

const STORY = `
select environment_id, status, started_at, finished_at,
  (select count(*)::int from deployment_message m where m.deployment_id = d.id and m.message = 'pre-deploy ran') as ran
from deployment d order by environment_id, number`;

async function story(): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<Row>(STORY);
  await client.end();
  return rows;
}

test('two instances, each killed in turn: every deployment ends, none runs beside another of its environment', async () => {
  const living = () => services.find(({ isRunning }) => isRunning) as Service;
  const token = await living().signIn();
  const call: Call = (method, path, body) =>
    restCall(`${living().url}/api/v1${path}`, method, { token, ...(body ? { body } : {}) });
  const bench = new DeployBench(call, git, server, await addServer(call, server));
  const environments = [await slowEnvironment(bench, 'red'), await slowEnvironment(bench, 'blue')];
  for (const round of [1, 2]) {
    for (const { id, path } of environments) {
      git.push(path, slowApp(`round ${round}`), `round ${round}`);
      const asked = await bench.rest<DeploymentAnswer>('POST', `/environments/${id}/deployments`, {});
      expect(asked.status).toBe(202);
      await eventually(async () => {
        const { body } = await bench.rest<DeploymentAnswer>('GET', `/environments/${id}/deployments/${asked.body.id}`);
        return body.phase === 'BUILDING' || body.isFinished;
      }, 120_000);
    }
    await services[round - 1]?.kill();
    services[round - 1] = await start(round - 1);
  }
  for (const { id } of environments) {
    const { latestDeploymentId } = await bench.get(id);
    expect(await bench.finished(id, latestDeploymentId ?? '')).toMatchObject({ status: 'LIVE', error: null });
    expect(await bench.page(id)).toBe('200 round 2');
  }
  const rows = await story();
  for (const [index, row] of rows.entries()) {
    const next = rows[index + 1];
    if (next?.environment_id === row.environment_id)
      expect(row.finished_at.getTime()).toBeLessThanOrEqual(next.started_at.getTime());
    expect(row).toMatchObject({ ran: 1, status: expect.stringMatching(/LIVE|SUPERSEDED/) });
  }
});
