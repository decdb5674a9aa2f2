import { AnalysisFailure } from './analysis-failure.ts';
import type { Builder } from './analysis-result.ts';

/** What a person decided by hand. Whatever is set here is final; whatever is not follows the analysis. */
export interface BuildSettings {
  readonly builder?: Builder | null;
  /** From the root of the repository, like every path in a result. */
  readonly dockerfile?: string | null;
  readonly composeFile?: string | null;
  readonly installCommand?: string | null;
  readonly buildCommand?: string | null;
  readonly startCommand?: string | null;
  readonly outputDirectory?: string | null;
  readonly port?: number | null;
  readonly languageVersion?: string | null;
}

const pathSettings = ['dockerfile', 'composeFile', 'outputDirectory'] as const;
const commandSettings = ['installCommand', 'buildCommand', 'startCommand'] as const;

export function checkSettings(settings: BuildSettings): void {
  for (const name of pathSettings) {
    if (!isPathInside(settings[name] ?? '.')) refuse(name, 'must be a path inside the repository');
  }
  for (const name of commandSettings) {
    if ((settings[name] ?? '').length > 4_096) refuse(name, 'is longer than 4096 characters');
    if ((settings[name] ?? '').includes('\0')) refuse(name, 'holds a NUL character');
  }
  const port = settings.port ?? 1;
  if (!Number.isInteger(port) || port < 1 || port > 65_535) refuse('port', 'must be a number from 1 to 65535');
  if (!/^[\w.+-]{1,64}$/.test(settings.languageVersion ?? '1')) refuse('languageVersion', 'must look like 1.2.3');
}

export const isPathInside = (path: string): boolean =>
  path.length <= 1_024 && !/\p{Cc}/u.test(path) && !path.startsWith('/') && !path.split('/').includes('..');

function refuse(setting: string, why: string): never {
  throw new AnalysisFailure('INVALID_SETTING', `${setting} ${why}`);
}
