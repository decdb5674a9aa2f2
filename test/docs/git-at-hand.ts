import { GitServer } from '../support/git-server.ts';

const SHOP = {
  'package.json': JSON.stringify({ name: 'shop', scripts: { start: 'node .' }, dependencies: { express: '5.0.0' } }),
  'package-lock.json': JSON.stringify({ lockfileVersion: 3 }),
  'index.js': "require('express')().listen(process.env.PORT ?? 3000)",
};

/** The Git server of those pages that speak of one. It starts when the first of them is told. */
export class GitAtHand {
  #server: Promise<GitServer> | undefined;
  #count = 0;

  /** What lets the service reach it, for a chapter that allows its machine's own network. */
  async settingsFor(settings: Record<string, string>): Promise<Record<string, string>> {
    if (settings.OUTBOUND_ALLOW === undefined) return settings;
    this.#server ??= GitServer.start();
    return { ...settings, OUTBOUND_CA_FILE: (await this.#server).caFile };
  }

  /** A public repository and a private one, whose addresses the reader knows. */
  async publish(shell: (text: string) => Promise<void>): Promise<void> {
    this.#server ??= GitServer.start();
    const server = await this.#server;
    if (this.#count === 0) {
      await server.publish('shop', SHOP);
      await server.publish('ledger', SHOP, { isPrivate: true });
    }
    this.#count += 1;
    await shell(`REPOSITORY='${server.url}/shop.git' PRIVATE_REPOSITORY='${server.url}/private/ledger.git'`);
  }

  /** The address of the public one. */
  async address(): Promise<string> {
    await this.publish(async () => undefined);
    return `${(await this.#server)?.url}/shop.git`;
  }

  async stop(): Promise<void> {
    await (await this.#server)?.stop();
  }
}
