import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Checkout, GitCheckouts, type GitLimits } from '../../src/engine/git-checkouts.ts';
import type { GitLogin } from '../../src/engine/git-sessions.ts';
import { LocalHost } from '../../src/remote/local-host.ts';
import { Outbound, type OutboundOptions } from '../../src/security/outbound.ts';

export const NOBODY: GitLogin = { username: null, password: null, privateKey: null };

interface Options extends Partial<OutboundOptions> {
  caFile?: string;
  limits?: Partial<GitLimits>;
  /** Where programs are found. */
  path?: string;
}

/** What talks to Git servers, without the service around it, in a folder of its own. */
export class TestCheckouts {
  readonly folder = mkdtempSync(join(tmpdir(), 'slipway checkouts-'));
  readonly git: GitCheckouts;
  readonly #outbound: Outbound;
  readonly #open: Checkout[] = [];

  constructor({ caFile, limits, path, ...options }: Options = {}) {
    const authorities = caFile === undefined ? undefined : readFileSync(caFile, 'utf8');
    this.#outbound = new Outbound({ allow: ['127.0.0.0/8', '::1/128'], authorities, ...options });
    this.git = new GitCheckouts(new LocalHost(path ?? process.env.PATH ?? ''), this.#outbound, this.folder, limits);
  }

  async clone(url: string, branch: string | null = null, login = NOBODY): Promise<Checkout> {
    const checkout = await this.git.clone(url, branch, login);
    this.#open.push(checkout);
    return checkout;
  }

  /** What is left of work that is over. */
  get leftovers(): string[] {
    return leftIn(this.folder);
  }

  async stop(): Promise<void> {
    for (const checkout of this.#open) await checkout.dispose();
    await this.#outbound.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function leftIn(folder: string): string[] {
  const work = join(folder, 'work');
  return existsSync(work) ? readdirSync(work) : [];
}

/** The entries of a checkout by their paths. */
export async function entriesOf({ snapshot }: Checkout): Promise<Record<string, { kind: string; size: number }>> {
  const entries: Record<string, { kind: string; size: number }> = {};
  for await (const { path, kind, size } of snapshot.entries()) entries[path] = { kind, size };
  return entries;
}

export async function readText({ snapshot }: Checkout, path: string): Promise<string | null> {
  const content = await snapshot.read(path, 1_000_000);
  return content === null ? null : Buffer.from(content).toString();
}
