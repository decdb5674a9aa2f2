import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface KeptSecrets {
  masterKey: string;
  jwtSecret: string;
}

interface Given {
  dataDir: string;
  masterKey: string | undefined;
  jwtSecret: string | undefined;
}

/** Keys that were given, or that this installation made for itself at its first start. */
export function keepSecrets({ dataDir, masterKey, jwtSecret }: Given, warn: (message: string) => void): KeptSecrets {
  if (masterKey !== undefined && jwtSecret !== undefined) return { masterKey, jwtSecret };
  const folder = join(dataDir, 'secrets');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (masterKey === undefined)
    warn(`MASTER_KEY is kept in ${folder}, beside the data it protects; give it by MASTER_KEY_FILE to keep them apart`);
  return {
    masterKey: masterKey ?? keep(join(folder, 'master-key')),
    jwtSecret: jwtSecret ?? keep(join(folder, 'jwt-secret')),
  };
}

/** Made only if it is not there: two starts at once agree on one. */
function keep(file: string): string {
  if (!existsSync(file)) {
    try {
      writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error;
    }
  }
  chmodSync(file, 0o600);
  const kept = readFileSync(file, 'utf8').trim();
  if (kept.length < 32)
    throw new Error(`${file} holds no key; restore it from a backup, or remove it if this installation is new`);
  return kept;
}
