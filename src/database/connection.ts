import type { PoolConfig } from 'pg';

/** How to reach PostgreSQL: a URL of the user's, or the socket of the embedded one. */
export type Connection = { connectionString: string } | { host: string; user: string; database: string; port?: number };

/** Timestamps are read as text, so every session speaks UTC; a query nobody waits for any more is ended. */
const SESSION = '-c timezone=UTC -c statement_timeout=30000 -c idle_in_transaction_session_timeout=60000';

export function poolConfig(connection: Connection, applicationName: string, max: number): PoolConfig {
  return {
    ...connection,
    application_name: applicationName,
    options: SESSION,
    max,
    // A server that is down refuses at once; this is for one that is slow, or behind a line that is cut.
    connectionTimeoutMillis: 8000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  };
}
