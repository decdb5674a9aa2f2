import { clock } from '../../clock.ts';
import { type Outbound, OutboundRefused } from '../../security/outbound.ts';
import { failureOf, GitFailure } from './git-failure.ts';

export interface JsonAnswer<Body> {
  body: Body;
  headers: { get(name: string): string | null };
}

/** GET of a vendor's JSON, through the checked way out. For vendors without a client worth having. */
export class JsonApi {
  constructor(
    private readonly vendor: string,
    private readonly outbound: Outbound,
  ) {}

  async get<Body>(url: URL, authorization: string | null): Promise<JsonAnswer<Body>> {
    const headers = {
      accept: 'application/json',
      'user-agent': 'slipway',
      ...(authorization === null ? {} : { authorization }),
    };
    const response = await this.outbound.fetch(url, { headers }).catch(error => {
      throw unreachable(this.vendor, error);
    });
    if (response.ok) return { body: (await response.json()) as Body, headers: response.headers };
    await response.body?.cancel();
    throw failureOf(this.vendor, response.status, response.headers, clock.now());
  }
}

export function unreachable(vendor: string, error: unknown): GitFailure {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof GitFailure) return cause;
    if (cause instanceof OutboundRefused) return new GitFailure('REFUSED', `${vendor}: ${cause.message}`);
  }
  return new GitFailure('UNREACHABLE', `${vendor} cannot be reached`);
}
