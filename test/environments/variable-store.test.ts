import { expect, test } from '@jest/globals';
import type { EntityManager } from '@mikro-orm/postgresql';
import { VariableScope } from '../../src/entities/variable.ts';
import { newId } from '../../src/id.ts';
import { Keyring, SealBroken } from '../../src/security/keyring.ts';
import { VariableStore } from '../../src/services/variable-store.ts';

const store = new VariableStore(null as unknown as EntityManager, new Keyring('a key of this test and of no other'));

test("a release's variables come back byte for byte, for that release alone", () => {
  const value = Array.from({ length: 0x2000 }, (_, code) => String.fromCodePoint(code + 1)).join('');
  const variables = [
    { key: 'ALL', value, isSecret: true, scope: VariableScope.RUNTIME },
    { key: 'EMPTY', value: '', isSecret: false, scope: VariableScope.BOTH },
  ];
  const [id, other] = [newId(), newId()];
  const sealed = store.sealRelease(id, variables);
  expect(store.openRelease({ id, variables: sealed })).toEqual(variables);
  expect(() => store.openRelease({ id: other, variables: sealed })).toThrow(SealBroken);
  expect(store.openRelease({ id, variables: null })).toEqual([]);
});
