/** Whether the service is built from the sources as they are. Plain JavaScript for Node 20, as prepare.mjs. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const BUILD_STAMP = 'dist/.stamp';

const root = fileURLToPath(new URL('..', import.meta.url));

export function isBuilt() {
  const stamp = join(root, BUILD_STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashSources();
}

/** Of all that dist/main.js is made of. */
export function hashSources() {
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(root, join(entry.parentPath ?? entry.path, entry.name)));
  const others = [
    'mikro-orm.config.ts',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts/build.mjs',
    'package-lock.json',
  ];
  const files = [...sources.sort(), ...others].filter(file => existsSync(join(root, file)));
  return hash(files.flatMap(file => [file, readFileSync(join(root, file))]));
}

export function hash(parts) {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(`${part.length}\n`).update(part);
  return digest.digest('hex');
}
