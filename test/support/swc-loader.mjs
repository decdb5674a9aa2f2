/** `node --import` this, and Node runs the TypeScript of the service as jest does: its own type stripping knows no decorators. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformFileSync } from '@swc/core';
import jestConfig from '../../jest.config.mjs';

const [, options] = jestConfig.transform['^.+\\.ts$'];

/** In a test run the large packages are joined, as joined-packages.ts says. */
const folder = process.env.SLIPWAY_JOINED_PACKAGES;
const joined = folder === undefined ? {} : JSON.parse(readFileSync(join(folder, 'joined.json'), 'utf8'));
const files = new Map(Object.entries(joined).map(([from, to]) => [pathToFileURL(from).href, pathToFileURL(to).href]));

registerHooks({
  resolve(specifier, context, nextResolve) {
    const found = nextResolve(specifier, context);
    const url = files.get(found.url);
    return url === undefined ? found : { url, shortCircuit: true };
  },
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
    const { code } = transformFileSync(fileURLToPath(url), { ...options, sourceMaps: 'inline', swcrc: false });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
