import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { createApp } from './app.ts';
import { ConfigFault, readConfig } from './config.ts';
import { DatabaseUnavailable } from './database/embedded-unavailable.ts';
import { createLog } from './http/log.ts';
import { SealBroken } from './security/keyring.ts';

const STOP_WITHIN_MS = 30_000;

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLog(config);
  // A request that failed twice has been answered once; nobody waits for the rest, and it is no reason to fail all others.
  process.on('unhandledRejection', error => log.error({ err: error }, 'Something failed that nobody waited for'));
  const app = await createApp(config, log, text => void process.stdout.write(text));
  await new Promise<void>((resolve, reject) => {
    app.server.once('error', reject);
    app.server.listen(config.port, config.host, resolve);
  });
  const { address, port } = app.server.address() as AddressInfo;
  log.info(
    { address, port },
    `Slipway listens on ${config.publicUrl} (${Math.round(performance.now())} ms after its start)`,
  );
  log.flush();
  const stop = () => {
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    app.stop().then(
      () => process.exit(0),
      error => {
        log.error({ err: error }, 'The stop did not go well');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

main().catch((error: unknown) => {
  const isForeseen =
    error instanceof ConfigFault || error instanceof DatabaseUnavailable || error instanceof SealBroken;
  process.stderr.write(`${isForeseen ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
