/** `node --import` this, and Node runs the TypeScript of the service as jest does: its own type stripping knows no decorators. */
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformFileSync } from '@swc/core';
import jestConfig from '../../jest.config.mjs';

const [, options] = jestConfig.transform['^.+\\.ts$'];

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
    const { code } = transformFileSync(fileURLToPath(url), { ...options, sourceMaps: 'inline', swcrc: false });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
