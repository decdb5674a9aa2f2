import { readFileSync } from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { buildSchema } from 'graphql';
import { type ContractFile, emitContract } from '../../scripts/contract.ts';
import { breakingChanges } from '../support/breaking-changes.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

let emitted: Record<ContractFile, string>;
beforeAll(async () => {
  emitted = await emitContract();
});

describe('what is committed is what the code says', () => {
  test.each(['schema.graphql', 'openapi.json'] as const)('%s', name => {
    if (read(name) === emitted[name]) return;
    throw new Error(`${name} is not what the code says any more: run "npm run emit" and look at the difference`);
  });
});

/** Within v1 changes are additions. Whoever means one that is not has to say so by "npm run emit -- --release". */
describe('no caller of the released contract stumbles', () => {
  test('by GraphQL', async () => {
    const changes = await diff(
      buildSchema(read('test/contract/schema.graphql')),
      buildSchema(emitted['schema.graphql']),
    );
    const breaking = changes.filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking);
    expect(breaking.map(({ message }) => message)).toEqual([]);
  });

  test('by REST', () => {
    const released = JSON.parse(read('test/contract/openapi.json'));
    expect(breakingChanges(released, JSON.parse(emitted['openapi.json']))).toEqual([]);
  });
});
