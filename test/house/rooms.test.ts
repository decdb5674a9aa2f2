import { describe, expect, test } from '@jest/globals';
import { knowers, readStoreys, strangeRooms, strayImports } from './rooms.ts';
import { importsOf, readSources } from './sources.ts';

const sources = readSources('src');
const storeys = readStoreys();

describe('the rooms', () => {
  test('are those that CONTRIBUTING.md names, in its order', () => {
    expect(strangeRooms(sources, storeys)).toEqual([]);
    expect(storeys.length).toBeGreaterThan(10);
  });

  test('import downwards only', () => {
    expect(strayImports(sources, storeys)).toEqual([]);
  });

  test.each([
    ['upwards', 'src/services/x.ts', `import { a } from '../schema/y.ts';`],
    ['upwards, a type', 'src/errors.ts', `import type { A } from './services/y.ts';`],
    ['upwards, by the way', 'src/commands/x.ts', `export const load = () => import('../engine/y.ts');`],
    ['upwards, a type by the way', 'src/entities/x.ts', `export type A = import('../services/y.ts').A;`],
    ['upwards, to pass it on', 'src/database/x.ts', `export * from '../events/y.ts';`],
    ['across', 'src/http/x.ts', `import '../rest/y.ts';`],
    ['from the ground', 'src/clock.ts', `import './database/y.ts';`],
    ['the roof', 'src/http/x.ts', `import '../app.ts';`],
    ['the migrations', 'src/database/x.ts', `import '../migrations/index.ts';`],
  ])('an import that goes astray is found: %s', (_, path, text) => {
    expect(strayImports([{ path, text }], storeys)).toHaveLength(1);
  });

  test.each([
    ['downwards', 'src/http/x.ts', `import '../services/y.ts'; import '../errors.ts'; import '../config.ts';`],
    ['inside a room', 'src/http/x.ts', `import './y.ts';`],
    ['from the roof', 'src/app-services.ts', `import './http/y.ts'; import './rest/z.ts';`],
  ])('a good one is not: %s', (_, path, text) => {
    expect(strayImports([{ path, text }], storeys)).toEqual([]);
  });
});

describe('what belongs to one storey stays there', () => {
  test('nobody below http and rest knows Express', () => {
    expect(knowers(sources, 'express')).toEqual(['app', 'http', 'rest']);
  });

  test('nobody below schema knows GraphQL, but for the marks of entities', () => {
    const above = ['app', 'entities', 'http', 'resolvers', 'rest', 'schema'];
    for (const name of ['graphql', 'type-graphql']) {
      expect(knowers(sources, name).filter(room => !above.includes(room))).toEqual([]);
    }
  });

  test('services know no input classes', () => {
    const inputs = sources.filter(({ path }) => path.startsWith('src/services/')).flatMap(importsOf);
    expect(inputs.filter(path => path.includes('/inputs/'))).toEqual([]);
  });
});
