import { expect, test } from '@jest/globals';
import {
  BUILD_KEYS,
  type KeyRules,
  NETWORK_KEYS,
  PROJECT_KEYS,
  SERVICE_KEYS,
  VOLUME_KEYS,
} from '../../src/engine/compose/compose-keys.ts';
import { read, refusal } from '../engine/compose/read.ts';
import { blocksOf, readPage, tableOf } from './markdown.ts';

const page = readPage('docs/guide/compose.md');

const blocks = (word: string): [place: string, text: string][] =>
  blocksOf(page)
    .filter(({ language, words }) => language === 'yaml' && words[0] === word)
    .map(({ words, text }) => [words[1] ?? '', text]);

test.each(blocks('accepted'))('the page shows a file with %s, which can be deployed', async (web, text) => {
  const project = await read(text, { variables: { DB_PASSWORD: 'x' } });
  expect(`${project.web?.service}:${project.web?.port}`).toBe(web);
  expect(project.warnings).toEqual([]);
});

test.each(blocks('refused'))('the page shows a file with %s, which is refused', async (place, text) => {
  expect((await refusal(text)).message).toContain(place);
});

test('docs/guide/compose.md lists every key that is used, left out or refused, and no other', () => {
  const rules: Record<string, KeyRules> = {
    'the file': PROJECT_KEYS,
    'a service': SERVICE_KEYS,
    'a build': BUILD_KEYS,
    'a volume': VOLUME_KEYS,
    'a network': NETWORK_KEYS,
  };
  const rows = tableOf(page, 'keys of', 'used', 'left out', 'refused');
  const listed = rows.map(([of = '', ...cells]) => [of, ...cells.map(cell => cell.match(/[\w]+/g)?.sort())]);
  const known = Object.entries(rules).map(([of, { honoured, ignored, refused }]) => [
    of,
    [...honoured].sort(),
    Object.keys(ignored).sort(),
    Object.keys(refused).sort(),
  ]);
  expect(listed).toEqual(known);
});
