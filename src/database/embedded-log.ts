import { existsSync } from 'node:fs';
import { copyFile, readFile, stat, truncate } from 'node:fs/promises';

const LIMIT_BYTES = 5_000_000;
const CHECK_EVERY_MS = 60_000;

/** PostgreSQL appends to its log without end; we keep the last two pieces. */
export async function boundLog(logFile: string): Promise<void> {
  if (!existsSync(logFile) || (await stat(logFile)).size < LIMIT_BYTES) return;
  await copyFile(logFile, `${logFile}.1`);
  // PostgreSQL holds the file open for appending, so it goes on at the new end.
  await truncate(logFile);
}

export function keepLogBounded(logFile: string): NodeJS.Timeout {
  return setInterval(() => void boundLog(logFile).catch(() => undefined), CHECK_EVERY_MS).unref();
}

export async function readLogTail(logFile: string): Promise<string> {
  if (!existsSync(logFile)) return '';
  return (await readFile(logFile, 'utf8')).trim().split('\n').slice(-4).join('\n');
}
