import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { errorStatus } from '../../src/errors.ts';
import { errorMeanings } from '../../src/schema/error-meanings.ts';
import { TestApp } from '../support/create-app.ts';
import { OpenApiCheck } from '../support/openapi-check.ts';
import { driveAccount } from './drives/account.drives.ts';
import { driveAuth } from './drives/auth.drives.ts';
import { Driver } from './drives/driver.ts';
import { driveMembers } from './drives/members.drives.ts';
import { driveAudit, driveRuns } from './drives/records.drives.ts';
import { driveEvents } from './drives/streams.drives.ts';

let app: TestApp;
let check: OpenApiCheck;
let driver: Driver;

beforeAll(async () => {
  app = await TestApp.start();
  check = await OpenApiCheck.of(app);
  const ann = await app.register('ann@example.org');
  const viewer = await app.join(ann, 'VIEWER');
  const body = { name: 'weak', scope: 'read' };
  const { token } = (await app.rest<{ token: string }>('POST', '/auth/tokens', { token: viewer.token, body })).body;
  driver = new Driver(app, check, ann, token);
});
afterAll(() => app.stop());

describe('every answer is the one the document tells', () => {
  test('signing in', () => driveAuth(driver));
  test('account', () => driveAccount(driver));
  test('members', () => driveMembers(driver));
  test('runs', () => driveRuns(driver));
  test('audit', () => driveAudit(driver));
  test('events', () => driveEvents(driver));

  test('and no operation was left out', () => {
    // Add a drive for each of these in test/rest/drives: one request that succeeds; the refusals come by themselves.
    expect(check.undriven()).toEqual([]);
  });
});

test('too many requests are refused by the document, too', async () => {
  const strict = await TestApp.start({ RATE_LIMIT: '2/1m', RATE_LIMIT_AUTH: '1/1m' });
  try {
    const body = { email: 'eve@example.org', password: 'whatever it takes' };
    const answers = [
      await strict.rest('POST', '/auth/login', { body }),
      await strict.rest('POST', '/auth/login', { body }),
      await strict.rest('POST', '/auth/login', { body }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 429, 429]);
    for (const answer of answers) check.check('POST', '/auth/login', answer);
  } finally {
    await strict.stop();
  }
});

describe('the document', () => {
  test('describes every operation', () => {
    const silent = check.operations().filter(({ operation: { summary, operationId } }) => summary === operationId);
    expect(silent.map(({ operation: { operationId } }) => operationId)).toEqual([]);
  });

  test('says what every code means', () => {
    expect(Object.keys(errorStatus).filter(code => !(code in errorMeanings))).toEqual([]);
  });

  test('names each operation once', () => {
    const ids = check.operations().map(({ operation: { operationId } }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
