import { AnalysisFailure } from '../analysis/analysis-failure.ts';
import { GitFailure, type GitFailureKind } from '../integrations/git/git-failure.ts';
import { RemoteFailure } from '../remote/host.ts';
import { OutboundRefused } from '../security/outbound.ts';
import { TooLarge } from './size-watch.ts';

type Meaning = [pattern: RegExp, kind: GitFailureKind, message: string];

/** What git and ssh say when they fail, and what that means. The first that fits counts. */
const MEANINGS: readonly Meaning[] = [
  [
    /Host key verification failed/i,
    'UNTRUSTED',
    "The Git server's host key is not the one seen before; if it was changed on purpose, an operator forgets the old one",
  ],
  [
    /unable to update url base from redirection|error: 30[12378]/i,
    'MOVED',
    'The address leads to another one; use that',
  ],
  [
    /certificate|SSL_ERROR|gnutls_handshake|SSL connect error/i,
    'UNREACHABLE',
    "The Git server's certificate is not trusted; an operator can add its authority by OUTBOUND_CA_FILE",
  ],
  [/error: 429/i, 'UNREACHABLE', 'The Git server asks us to wait; try again later'],
  [
    /Authentication failed|could not read (Username|Password)|Permission denied|error: 40[13]|invalid credentials/i,
    'TOKEN_REJECTED',
    'The Git server does not let us in with this credential',
  ],
  [/Remote branch .* not found|couldn't find remote ref/i, 'NO_BRANCH', 'The branch does not exist'],
  [
    /not found|does not exist|not appear to be a git repository|error: 404/i,
    'NOT_FOUND',
    'The repository does not exist, or may not be seen with this credential',
  ],
];

/** Git's own words are for the log; callers get ours. */
export function explainGit(error: unknown, hasCredential: boolean): Error {
  if (error instanceof GitFailure || error instanceof AnalysisFailure) return error;
  if (error instanceof OutboundRefused)
    return new GitFailure('REFUSED', `The Git server may not be reached: ${error.message}`);
  const reason = error instanceof RemoteFailure ? error.cause : error;
  if (reason instanceof TooLarge) return new GitFailure('TOO_LARGE', reason.message);
  if (error instanceof RemoteFailure) return explainRun(error, hasCredential);
  return isLookupFailure(error) ? new GitFailure('UNREACHABLE', 'The Git server has no address') : (error as Error);
}

function explainRun({ reason, stderrTail }: RemoteFailure, hasCredential: boolean): GitFailure {
  if (reason === 'NOT_STARTED')
    return new GitFailure('UNREACHABLE', 'git is not installed where Slipway runs; install it');
  if (reason === 'TIMEOUT') return new GitFailure('UNREACHABLE', 'The Git server did not answer in time');
  const [, kind, message] = MEANINGS.find(([pattern]) => pattern.test(stderrTail)) ?? [];
  if (kind === undefined || message === undefined)
    return new GitFailure('UNREACHABLE', 'The Git server cannot be reached');
  // Servers hide what exists from those who may not know, so without a credential both are one answer.
  if (kind === 'TOKEN_REJECTED' && !hasCredential)
    return new GitFailure(
      'NOT_FOUND',
      'The repository does not exist or is not public; name the account it is read with',
    );
  return new GitFailure(kind, message);
}

const isLookupFailure = (error: unknown): boolean =>
  ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'].includes((error as { code?: string }).code ?? '');
