/**
 * Writes schema.graphql, openapi.json and docs/api/names.md as the code has them now. With --release the first two also become
 * the contract that later changes may not break, in test/contract.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import jestConfig from '../jest.config.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [, options] = Object.values(jestConfig.transform)[0];

// Node leaves types away by itself but knows no decorators: compiled like in the tests, without a build.
registerHooks({
  load: (url, context, next) => {
    if (!url.endsWith('.ts')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { ...options, filename, sourceMaps: 'inline' });
    return { format: 'module', source: code, shortCircuit: true };
  },
});

const { emitContract, publishedSchema } = await import('./contract.ts');
const { describeNames } = await import('./names.ts');
const folders = process.argv.includes('--release') ? ['.', 'test/contract'] : ['.'];
for (const [name, text] of Object.entries(await emitContract())) {
  for (const folder of folders) writeFileSync(join(root, folder, name), text);
}
writeFileSync(join(root, 'docs/api/names.md'), describeNames(await publishedSchema()));
