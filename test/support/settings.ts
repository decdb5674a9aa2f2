import { tmpdir } from 'node:os';
import { pino } from 'pino';
import { type Config, readConfig } from '../../src/config.ts';

/** Of every service in a test that is about something else. */
export const KEY = 'a test key that is long enough to be one';

/** Limits are off unless a test is about them: a file makes more requests in a second than a person in a minute. */
export const testConfig = (settings: Record<string, string>): Config =>
  readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    DATA_DIR: tmpdir(),
    MASTER_KEY: KEY,
    JWT_SECRET: KEY,
    RATE_LIMIT: 'off',
    RATE_LIMIT_AUTH: 'off',
    RATE_LIMIT_EMAIL: 'off',
    SLOW_DOWN: 'off',
    PUBLIC_URL: 'http://slipway.test',
    ...settings,
  });

export const silentLog = pino({ level: 'silent' });

/** The same server, another database. The embedded one is reached by a socket, which a URL says in its query. */
export const withDatabase = (url: string, database: string): string => url.replace(/\/[^/?]*(\?|$)/, `/${database}$1`);
