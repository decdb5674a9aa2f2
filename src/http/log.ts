import { type DestinationStream, pino } from 'pino';

export type Log = ReturnType<typeof createLog>;

interface LogConfig {
  logLevel: string;
  logFormat: 'pretty' | 'json';
}

/** What must never be read in a log, wherever it turns up in what is logged. */
const SECRETS = [
  'password',
  'token',
  'accessToken',
  'refreshToken',
  'ticket',
  'challenge',
  'authorization',
  'cookie',
  'privateKey',
  'passphrase',
  'secret',
];

/** Lines are written in blocks, or when they have waited this long; a write for each would cost more than the line. */
const BLOCK_BYTES = 4096;
const FLUSH_MS = 200;

export function createLog({ logLevel, logFormat }: LogConfig, destination?: DestinationStream) {
  const options = {
    level: logLevel,
    base: null,
    redact: {
      paths: SECRETS.flatMap(name => [name, `*.${name}`, `*.*.${name}`, `headers.${name}`]),
      censor: '[secret]',
    },
  };
  if (destination) return pino(options, destination);
  if (logFormat === 'pretty')
    return pino({ ...options, transport: { target: 'pino-pretty', options: { colorize: true } } });
  return pino(options, pino.destination({ sync: false, minLength: BLOCK_BYTES, periodicFlush: FLUSH_MS }));
}
