import { RemoteFailure } from '../../remote/host.ts';
import { saidText } from '../../remote/said-text.ts';
import { DeployFailure, type ReasonCode } from './deploy-failure.ts';

const LONGEST_MESSAGE = 1000;
const LAST_LINES = 5;

interface Cause {
  code: ReasonCode;
  signs: RegExp;
  message?: string;
  hint: string;
}

const CAUSES: readonly Cause[] = [
  {
    code: 'OUT_OF_DISK',
    signs: /no space left on device|ENOSPC|disk quota exceeded/i,
    message: 'The disk of the server is full',
    hint: 'Free some of the disk where Docker keeps its images, or lower keepReleases, and deploy again.',
  },
  {
    code: 'BUILD_FAILED',
    signs: /buildx component is missing|buildx: .*not found|BuildKit is enabled but/i,
    message: 'Docker cannot build images on this server: its buildx is missing',
    hint: 'Install docker-buildx (docker-buildx-plugin where the packages are Docker’s own) on the server.',
  },
  {
    code: 'OUT_OF_MEMORY',
    signs: /exit code: 137\b|signal: killed|^(#\d+ [\d.]+ )?Killed$|cannot allocate memory|heap out of memory/im,
    hint: 'The build needs more memory than the server has: add memory or swap, or build less at a time.',
  },
];

/** What a build that failed is told as. A server that is lost, and a build that was cancelled, are told by those who know more. */
export function buildFailure(error: unknown): unknown {
  if (!(error instanceof RemoteFailure)) return error;
  const { reason, stderrTail } = error;
  if (reason === 'TIMEOUT')
    return new DeployFailure('TIMED_OUT', 'The build took too long', TIME_HINT, { cause: error });
  if (reason === 'TOO_MUCH_OUTPUT')
    return new DeployFailure('BUILD_FAILED', 'The build said more than anybody will read', null, { cause: error });
  if (reason !== 'EXIT') return error;
  const { code, message, hint } = CAUSES.find(({ signs }) => signs.test(stderrTail)) ?? UNKNOWN;
  return new DeployFailure(code, message ?? complaintIn(stderrTail), hint, { cause: error });
}

const TIME_HINT = 'See in the log what it was at; a step that waits for input or for the network never ends.';

const UNKNOWN: Pick<Cause, 'code' | 'message' | 'hint'> = {
  code: 'BUILD_FAILED',
  hint: 'The log has what the build said before it failed.',
};

/** The last thing that was said is what BuildKit makes of it; what the failed step said itself stands before. */
function complaintIn(tail: string): string {
  const lines = tail.split(/[\r\n]+/).filter(line => !NOISE.test(line));
  const verdict = (lines.at(-1) ?? 'The build failed without a word').replace(/^ERROR: /, '');
  const steps = lines.flatMap(line => /^#\d+ [\d.]+ (.*)$/.exec(line)?.[1] ?? []);
  return saidText([verdict, ...steps.slice(-LAST_LINES)].join(' · '), LONGEST_MESSAGE);
}

const NOISE = /^\s*$|^-+$|^ > \[|^#\d+ (sha256:|DONE|CACHED|ERROR)|^Dockerfile:\d+$|^\s*\d+ \|/;
