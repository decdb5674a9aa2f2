import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { DAY, HOUR, MINUTE, SECOND } from './clock.ts';

export interface Rate {
  max: number;
  windowMs: number;
}

export type Config = ReturnType<typeof parse>;

/** Every fault at once: a start that fails should need to fail only one time. */
export class ConfigFault extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The configuration has ${faults.length} fault(s):\n${faults.map(fault => `  - ${fault}`).join('\n')}`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The only reader of the environment. Pure but for the files named by NAME_FILE. */
export function readConfig(env: Environment = process.env): Config {
  const settings = new Settings(env);
  const config = parse(settings);
  if (settings.faults.length > 0) throw new ConfigFault(settings.faults);
  return config;
}

function parse(settings: Settings) {
  const isProduction =
    settings.oneOf('NODE_ENV', ['development', 'production', 'test'], 'development') === 'production';
  const host = settings.text('HOST') ?? '127.0.0.1';
  const port = settings.whole('PORT', 3000, 0, 65_535);
  const databaseUrl = settings.databaseUrl('DATABASE_URL');
  const isOpenByDefault = isProduction ? 'off' : 'on';
  const config = {
    isProduction,
    host,
    port,
    publicUrl: settings.url('PUBLIC_URL', ['http:', 'https:'])?.replace(/\/+$/, '') ?? `http://${host}:${port}`,
    dataDir: resolve(settings.text('DATA_DIR') ?? './data'),
    databaseUrl,
    masterKey: settings.key('MASTER_KEY'),
    previousMasterKeys: settings.keys('MASTER_KEY_PREVIOUS'),
    jwtSecret: settings.key('JWT_SECRET'),
    accessTokenTtlMs: settings.duration('ACCESS_TOKEN_TTL', 15 * MINUTE),
    refreshTokenTtlMs: settings.duration('REFRESH_TOKEN_TTL', 30 * DAY),
    smtpUrl: settings.url('SMTP_URL', ['smtp:', 'smtps:']),
    mailFrom: settings.text('MAIL_FROM') ?? 'Slipway <slipway@localhost>',
    registration: settings.oneOf('REGISTRATION', ['open', 'invite'], isProduction ? 'invite' : 'open'),
    bootstrapEmail: settings.email('BOOTSTRAP_EMAIL'),
    bootstrapPassword: settings.text('BOOTSTRAP_PASSWORD'),
    rateLimit: settings.rate('RATE_LIMIT', '300/1m'),
    rateLimitAuth: settings.rate('RATE_LIMIT_AUTH', '10/1m'),
    rateLimitEmail: settings.rate('RATE_LIMIT_EMAIL', '5/1m'),
    slowDown: settings.rate('SLOW_DOWN', '200/1m'),
    metricsToken: settings.text('METRICS_TOKEN'),
    keepEventsMs: settings.duration('KEEP_EVENTS', 30 * DAY),
    keepLogsMs: settings.duration('KEEP_LOGS', 90 * DAY),
    keepAuditMs: settings.duration('KEEP_AUDIT', 365 * DAY),
    trustProxy: settings.cidrs('TRUST_PROXY'),
    corsOrigins: settings.origins('CORS_ORIGINS'),
    hasApiDocs: settings.oneOf('API_DOCS', ['on', 'off'], isOpenByDefault) === 'on',
    hasIntrospection: settings.oneOf('INTROSPECTION', ['on', 'off'], isOpenByDefault) === 'on',
    persistedOperationsFile: settings.text('PERSISTED_OPERATIONS'),
    outboundAllow: settings.cidrs('OUTBOUND_ALLOW'),
    outboundCaFile: settings.text('OUTBOUND_CA_FILE'),
    programPath: programPath(settings.env),
    logLevel: settings.oneOf('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    logFormat: settings.oneOf('LOG_FORMAT', ['pretty', 'json'], process.stdout.isTTY ? 'pretty' : 'json'),
  };
  settings.together('BOOTSTRAP_EMAIL', 'BOOTSTRAP_PASSWORD');
  if (isProduction && databaseUrl !== undefined) settings.required('MASTER_KEY', 'JWT_SECRET');
  if (isProduction) settings.neverOff('RATE_LIMIT', 'RATE_LIMIT_AUTH', 'RATE_LIMIT_EMAIL', 'SLOW_DOWN');
  return config;
}

/** Where programs are looked for: the only thing of our environment that they are given. */
export const programPath = ({ PATH }: Environment = process.env): string => PATH || '/usr/local/bin:/usr/bin:/bin';

/** Reads single settings and keeps the faults it meets. A fault names the setting and the remedy, never the value. */
class Settings {
  readonly faults: string[] = [];

  constructor(readonly env: Environment) {}

  text(name: string): string | undefined {
    const file = this.env[`${name}_FILE`];
    if (file !== undefined && this.env[name] !== undefined) this.#fault(name, `set it or ${name}_FILE, not both`);
    const value = file === undefined ? this.env[name] : this.#readFile(name, file);
    return value === undefined || value === '' ? undefined : value;
  }

  whole(name: string, fallback: number, min: number, max: number): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    if (/^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
    return this.#fault(name, `must be a whole number from ${min} to ${max}`, fallback);
  }

  oneOf<const Choice extends string>(name: string, choices: readonly Choice[], fallback: NoInfer<Choice>): Choice {
    const value = this.text(name);
    if (value === undefined) return fallback;
    return (
      choices.find(choice => choice === value) ?? this.#fault(name, `must be one of ${choices.join(', ')}`, fallback)
    );
  }

  url(name: string, protocols: readonly string[]): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const { protocol, host } = URL.canParse(value) ? new URL(value) : { protocol: '', host: '' };
    const isGood = protocols.includes(protocol) && host !== '';
    return isGood ? value : this.#fault(name, `must be a URL that starts with ${protocols.join(' or ')}//`, undefined);
  }

  email(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined || /^[^\s@]{1,64}@[^\s@]+\.[^\s@.]+$/.test(value)) return value;
    return this.#fault(name, 'must be an e-mail address', undefined);
  }

  /** Not every good one is a URL to Node: a socket is named in the query, and then there is no host. */
  databaseUrl(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined || /^postgres(ql)?:\/\/[^/]*\/[^/?]+/.test(value)) return value;
    return this.#fault(name, 'must look like postgresql://user:password@host:5432/database', undefined);
  }

  key(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined || value.length >= KEY_LENGTH) return value;
    return this.#fault(name, `must have at least ${KEY_LENGTH} characters, for example ${KEY_EXAMPLE}`, undefined);
  }

  keys(name: string): string[] {
    const parts = this.list(name);
    if (parts.some(({ length }) => length < KEY_LENGTH))
      this.#fault(name, `must be keys of at least ${KEY_LENGTH} characters, separated by commas`);
    return parts;
  }

  duration(name: string, fallback: number): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    return parseDuration(value) || this.#fault(name, 'must be a duration such as 90s, 15m, 12h or 30d', fallback);
  }

  rate(name: string, fallback: string): Rate | undefined {
    const value = this.text(name) ?? fallback;
    if (value === 'off') return undefined;
    const [, max, window] = /^(\d{1,9})\/(\w+)$/.exec(value) ?? [];
    const windowMs = parseDuration(window ?? '');
    if (max === undefined || !windowMs || Number(max) < 1) {
      return this.#fault(name, 'must be a rate such as 300/1m, or "off" outside production', undefined);
    }
    return { max: Number(max), windowMs };
  }

  list(name: string): string[] {
    return (this.text(name) ?? '')
      .split(',')
      .map(part => part.trim())
      .filter(part => part !== '');
  }

  cidrs(name: string): string[] {
    const parts = this.list(name);
    if (!parts.every(isCidr)) this.#fault(name, 'must be addresses or CIDR ranges, separated by commas');
    return parts;
  }

  origins(name: string): string[] {
    const parts = this.list(name);
    const isOrigin = (part: string) => part === '*' || (/^https?:/.test(part) && originOf(part) === part);
    if (!parts.every(isOrigin))
      this.#fault(name, 'must be origins such as https://app.example.org, separated by commas, or *');
    return parts;
  }

  together(...names: string[]): void {
    const missing = names.filter(name => this.text(name) === undefined);
    if (missing.length > 0 && missing.length < names.length) {
      this.#fault(missing.join(', '), `must be given, as ${names.join(' and ')} go together`);
    }
  }

  required(...names: string[]): void {
    for (const name of names) {
      if (this.text(name) === undefined) this.#fault(name, 'must be given in production when DATABASE_URL is set');
    }
  }

  neverOff(...names: string[]): void {
    for (const name of names) if (this.text(name) === 'off') this.#fault(name, 'may not be "off" in production');
  }

  #readFile(name: string, file: string): string | undefined {
    try {
      return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    } catch {
      return this.#fault(`${name}_FILE`, 'names a file that cannot be read', undefined);
    }
  }

  #fault<Fallback = undefined>(name: string, remedy: string, fallback?: Fallback): Fallback {
    const fault = `${name}: ${remedy}`;
    if (!this.faults.includes(fault)) this.faults.push(fault);
    return fallback as Fallback;
  }
}

const KEY_LENGTH = 32;
const KEY_EXAMPLE = 'from "openssl rand -base64 32"';

const originOf = (text: string): string | undefined => (URL.canParse(text) ? new URL(text).origin : undefined);

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };

function isCidr(text: string): boolean {
  const [, network = '', prefix = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(network);
  return family !== 0 && Number(prefix) <= (family === 6 ? 128 : 32);
}

export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  return amount === undefined || unit === undefined ? undefined : Number(amount) * (UNITS[unit] as number);
}
