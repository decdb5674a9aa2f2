import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, TestApp } from '../support/create-app.ts';
import { tellRuns } from '../support/runs.ts';
import { DOORS, ThreeDoors } from '../support/three-doors.ts';

const COUNT = 120;

let app: TestApp;
let doors: ThreeDoors;
let ann: Person;
/** Newest first. */
let ids: string[];
beforeAll(async () => {
  app = await TestApp.start();
  doors = await ThreeDoors.of(app);
  ann = await app.register();
  const bob = await app.register();
  await tellRuns(app, bob.workspaceId, 3);
  await tellRuns(app, ann.workspaceId, COUNT);
  const rows = await app.sql<{ id: string }>('select id from run where workspace_id = $1 order by id desc', [
    ann.workspaceId,
  ]);
  ids = rows.map(({ id }) => id);
});
afterAll(() => app.stop());

const idsOf = (value: unknown) => (value as { id: string }[]).map(({ id }) => id);

describe.each(DOORS)('at the door %s', door => {
  const list = async (args: Record<string, unknown>) =>
    idsOf((await doors.call(door, 'Query.runs', args, { token: ann.token })).value);

  test('a list is newest first, 50 items unless told otherwise, and of one workspace', async () => {
    expect(await list({})).toEqual(ids.slice(0, 50));
    expect(await list({ limit: 100 })).toEqual(ids.slice(0, 100));
  });

  test('pages follow each other without a gap or a repeat, and a short page is the last', async () => {
    const seen: string[] = [];
    for (let page: string[] = []; ; ) {
      page = await list({ limit: 33, ...(page.length > 0 ? { after: page.at(-1) } : {}) });
      seen.push(...page);
      if (page.length < 33) break;
    }
    expect(seen).toEqual(ids);
  });

  test('after may name what has been deleted since', async () => {
    const [gone] = await tellRuns(app, ann.workspaceId, 1);
    await app.sql('delete from run where id = $1', [gone]);
    expect(await list({ after: gone, limit: 3 })).toEqual(ids.slice(0, 3));
  });

  test('an explicit null for after is the first page', async () => {
    if (door === 'rest') return; // A query string has no null.
    expect(await list({ after: null, limit: 2 })).toEqual(ids.slice(0, 2));
  });
});

describe('the Link header of REST', () => {
  const page = async (path: string) => {
    const { body, headers } = await app.rest<{ id: string }[]>('GET', path, { token: ann.token });
    return { ids: idsOf(body), link: headers.get('link') };
  };
  const follow = (link: string | null) => (/^<\/api\/v1(.*)>; rel="next"$/.exec(link ?? '') ?? [])[1];

  test('leads through all of it and ends with the last page', async () => {
    const seen: string[] = [];
    let path: string | undefined = '/runs?limit=40&kind=RESEAL&status=QUEUED';
    let pages = 0;
    while (path !== undefined) {
      const { ids: some, link } = await page(path);
      seen.push(...some);
      pages += 1;
      path = follow(link);
      if (path !== undefined) expect(path).toMatch(/limit=40&kind=RESEAL&status=QUEUED&after=/);
    }
    expect([pages, seen]).toEqual([3, ids]);
  });

  test('is absent when a full page is the last one', async () => {
    expect((await page(`/runs?limit=20&after=${ids[99]}`)).link).toBeNull();
    expect((await page(`/runs?limit=19&after=${ids[99]}`)).link).not.toBeNull();
  });

  test('is absent from single resources and from empty lists', async () => {
    expect((await page('/runs?status=FAILED')).link).toBeNull();
    expect((await app.rest('GET', '/auth/me', { token: ann.token })).headers.get('link')).toBeNull();
  });
});

test('every list of the schema has a limit and an after, so that none is unbounded', () => {
  const lists = Object.values(doors.schema.getQueryType()?.getFields() ?? {}).filter(({ type }) =>
    String(type).startsWith('['),
  );
  expect(lists.length).toBeGreaterThan(4);
  // The output of what runs is no list of rows: it is asked for by its end.
  const paged = lists.filter(({ name }) => name !== 'runtimeLogs');
  const bare = paged.filter(({ args }) => !['limit', 'after'].every(name => args.some(arg => arg.name === name)));
  expect(bare.map(({ name }) => name)).toEqual([]);
});

test('nested lists have 10 items unless told otherwise and never more than 100', () => {
  const roots = new Set([doors.schema.getQueryType(), doors.schema.getMutationType()].map(type => type?.name));
  const nested = Object.values(doors.schema.getTypeMap()).flatMap(type => {
    if (!('getFields' in type) || !('getInterfaces' in type) || roots.has(type.name) || type.name.startsWith('__'))
      return [];
    return Object.values(type.getFields()).filter(field => field.args.some(arg => arg.name === 'limit'));
  });
  for (const { args } of nested) expect(args.find(arg => arg.name === 'limit')?.defaultValue).toBe(10);
});
