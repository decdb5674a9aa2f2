import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { errorStatus } from '../../src/errors.ts';
import { errorMeanings } from '../../src/schema/error-meanings.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { GitServer } from '../support/git-server.ts';
import { OpenApiCheck } from '../support/openapi-check.ts';
import { driveAccount } from './drives/account.drives.ts';
import { driveAuth } from './drives/auth.drives.ts';
import { driveDeployments, driveRuntimeLogs } from './drives/deployments.drives.ts';
import { Driver } from './drives/driver.ts';
import { driveEnvironments } from './drives/environments.drives.ts';
import { driveGitProviders } from './drives/git-providers.drives.ts';
import { driveMembers } from './drives/members.drives.ts';
import { driveProjects } from './drives/projects.drives.ts';
import { driveAudit, driveRuns } from './drives/records.drives.ts';
import { driveServers } from './drives/servers.drives.ts';
import { driveEvents } from './drives/streams.drives.ts';

/** Hundreds of requests each, and the machine may have other things to do. */
const PATIENCE = 60_000;

/** GraphQL's own, those of no route at all, and those that only ever stand in the error of long work. */
const NOT_OF_AN_OPERATION = [
  'QUERY_INVALID',
  'QUERY_TOO_COMPLEX',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'METHOD_NOT_ALLOWED',
  'CONFLICT',
];

let git: GitServer;
let app: TestApp;
let check: OpenApiCheck;
let driver: Driver;

beforeAll(async () => {
  git = await GitServer.start();
  app = await TestApp.start({ OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_CA_FILE: git.caFile });
  check = await OpenApiCheck.of(app);
  const ann = await app.register('ann@example.org');
  driver = new Driver(app, check, ann, await makeWeakToken(ann));
}, PATIENCE);
afterAll(async () => {
  await app.stop();
  await git.stop();
});

/** The weakest credential there is: of a viewer, for reading, in one project that has nothing in it. */
async function makeWeakToken(owner: Person): Promise<string> {
  const repository = await git.publish('empty', { 'README.md': '# Empty' });
  const body = { name: 'Empty', repository };
  const project = await app.rest<{ id: string }>('POST', '/projects', { token: owner.token, body });
  const viewer = await app.join(owner, 'VIEWER');
  const wish = { name: 'weak', scope: 'read', projectId: project.body.id };
  return (await app.rest<{ token: string }>('POST', '/auth/tokens', { token: viewer.token, body: wish })).body.token;
}

describe('every answer is the one the document tells', () => {
  test('signing in', () => driveAuth(driver), PATIENCE);
  test('account', () => driveAccount(driver), PATIENCE);
  test('members', () => driveMembers(driver), PATIENCE);
  test('runs', () => driveRuns(driver), PATIENCE);
  test('Git providers', () => driveGitProviders(driver, git), PATIENCE);
  test('projects', () => driveProjects(driver, git), PATIENCE);
  test('environments', () => driveEnvironments(driver, git), PATIENCE);
  test('deployments', () => driveDeployments(driver), PATIENCE);
  test('what runs', () => driveRuntimeLogs(driver), PATIENCE);
  test('servers', () => driveServers(driver), PATIENCE);
  test('audit', () => driveAudit(driver), PATIENCE);
  test('events', () => driveEvents(driver), PATIENCE);

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

  test('lists every code with an operation that can answer by it', () => {
    const { responses } = check.document.components;
    const listed = Object.values(responses).flatMap(({ content }) =>
      Object.keys(content['application/problem+json']?.examples ?? {}),
    );
    const unlisted = Object.keys(errorStatus).filter(code => !listed.includes(code));
    // A code of your own is missing here? Put @Raises on the resolvers whose callers meet it.
    expect(unlisted.filter(code => !NOT_OF_AN_OPERATION.includes(code))).toEqual([]);
  });

  test('tells limits, nulls and defaults as the inputs are checked', () => {
    const { UpdateMeBody } = check.document.components.schemas;
    expect(UpdateMeBody).toMatchObject({
      additionalProperties: false,
      properties: {
        name: { type: ['string', 'null'], minLength: 1, maxLength: 100 },
        twoFactorEnabled: { type: 'boolean' },
      },
    });
    const limit = { type: 'integer', minimum: 1, maximum: 100, default: 50 };
    expect(check.find('GET', '/runs').operation.parameters).toContainEqual(
      expect.objectContaining({ name: 'limit', in: 'query', schema: { ...limit, format: 'int32' } }),
    );
  });

  test.each([
    ['POST', '/auth/login', { security: [], keyed: false }],
    ['POST', '/auth/tokens', { security: [{ bearer: [] }], keyed: false }],
    ['POST', '/projects', { security: [{ bearer: [] }], keyed: true }],
    ['PUT', '/projects/1', { security: [{ bearer: [] }], keyed: false }],
    ['GET', '/events', { security: [{ bearer: [] }, { ticket: [] }], keyed: false }],
  ])('%s %s: who may call it, and whether it takes a key', (method, path, { security, keyed }) => {
    const { operation } = check.find(method, path);
    expect(operation.security).toEqual(security);
    const key = { $ref: '#/components/parameters/IdempotencyKey' };
    expect((operation.parameters ?? []).some(parameter => JSON.stringify(parameter) === JSON.stringify(key))).toBe(
      keyed,
    );
  });
});
