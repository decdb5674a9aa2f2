import { clock } from '../../clock.ts';
import { AnswerTooLarge, type Outbound, OutboundRefused } from '../../security/outbound.ts';
import { Answer } from './answer.ts';
import { failureOf, GitFailure } from './git-failure.ts';

/** The checked way out, as far as vendors need it. */
export type WayOut = Pick<Outbound, 'fetch'>;

export interface JsonAnswer {
  body: Answer;
  headers: { get(name: string): string | null };
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A vendor's JSON, through the checked way out. For vendors without a client worth having. */
export class JsonApi {
  constructor(
    private readonly vendor: string,
    private readonly outbound: WayOut,
  ) {}

  get(url: URL, authorization: string | null): Promise<JsonAnswer> {
    return this.send('GET', url, authorization);
  }

  async send(method: Method, url: URL, authorization: string | null, body?: object): Promise<JsonAnswer> {
    const headers = {
      accept: 'application/json',
      'user-agent': 'slipway',
      ...(authorization === null ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    try {
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await this.outbound.fetch(url, { method, headers, ...text });
      if (response.ok) return { body: new Answer(this.vendor, await contentOf(response)), headers: response.headers };
      await response.body?.cancel();
      throw failureOf(this.vendor, response.status, response.headers, clock.now());
    } catch (error) {
      throw unreachable(this.vendor, error);
    }
  }
}

/** What was deleted has nothing to say. */
async function contentOf(response: Awaited<ReturnType<WayOut['fetch']>>): Promise<unknown> {
  return response.status === 204 ? undefined : response.json();
}

/** What Node says of a certificate it does not trust. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/;

/** Why there is no answer. Their own words are not repeated: they may be anybody's. */
export function unreachable(vendor: string, error: unknown): GitFailure {
  for (const cause of causesOf(error)) {
    if (cause instanceof GitFailure) return cause;
    if (cause instanceof OutboundRefused) return new GitFailure('REFUSED', `${vendor}: ${cause.message}`);
    const [, reason] = REASONS.find(([applies]) => applies(cause)) ?? [];
    if (reason !== undefined) return new GitFailure('UNREACHABLE', `${vendor} ${reason}`);
  }
  return new GitFailure('UNREACHABLE', `${vendor} cannot be reached`);
}

interface Cause {
  name?: string;
  code?: string;
  cause?: unknown;
}

const REASONS: readonly [applies: (cause: Cause) => boolean, reason: string][] = [
  [cause => cause instanceof AnswerTooLarge, 'answered with too much'],
  [({ name }) => name === 'SyntaxError', 'answered in a form we do not know; check its address'],
  [({ name }) => name === 'TimeoutError', 'did not answer in time'],
  [({ code }) => UNTRUSTED.test(code ?? ''), 'has a certificate that is not trusted; see OUTBOUND_CA_FILE'],
];

function* causesOf(error: unknown): Iterable<Cause> {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as Cause).cause)
    yield cause as Cause;
}
