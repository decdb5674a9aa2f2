import { GitFailure, type GitFailureKind } from '../../integrations/git/git-failure.ts';
import { RemoteFailure } from '../../remote/host.ts';
import { DeployFailure, type ReasonCode } from '../deploy/deploy-failure.ts';

type Meaning = [code: ReasonCode, hint: string];

const LATER =
  'Deploy again later; if it stays, check from the machine that Slipway runs on whether git can reach the server.';

/** What a failure of git means for a deployment, and what its user does about it. */
const MEANINGS: { readonly [Kind in GitFailureKind]: Meaning } = {
  TOKEN_REJECTED: ['CLONE_AUTH', 'Save a new token for the Git account of the project, then deploy again.'],
  FORBIDDEN: ['CLONE_AUTH', 'Give the token the right to read the repository, or save another one.'],
  NOT_FOUND: ['CLONE_FAILED', 'Check that the repository exists and that the Git account of the project may read it.'],
  MOVED: ['CLONE_FAILED', 'Give the project the new address of the repository.'],
  NO_BRANCH: ['BRANCH_NOT_FOUND', 'Push the branch, or choose another one for the environment.'],
  TOO_LARGE: ['CLONE_FAILED', 'Take large files out of the repository, or keep them with Git LFS.'],
  RATE_LIMITED: ['CLONE_FAILED', LATER],
  UNREACHABLE: ['CLONE_FAILED', LATER],
  UNTRUSTED: ['CLONE_FAILED', 'If the key was changed on purpose, an operator removes the old one from known-hosts.'],
  REFUSED: ['CLONE_FAILED', 'Use an address on the public internet, or have an operator allow it by OUTBOUND_ALLOW.'],
};

const UNWRITTEN = 'The files of the repository could not be written';
const DISK = 'The disk of the machine that Slipway runs on may be full; if it is not, the repository may be damaged.';

/** What ended the fetching of the source, as a deployment tells it. */
export function sourceFailure(error: unknown): unknown {
  if (error instanceof RemoteFailure) return new DeployFailure('CLONE_FAILED', UNWRITTEN, DISK, { cause: error });
  if (!(error instanceof GitFailure)) return error;
  const [code, hint] = MEANINGS[error.kind];
  return new DeployFailure(code, error.message, hint, { cause: error });
}

const LOCKED: readonly GitFailureKind[] = ['NOT_FOUND', 'TOKEN_REJECTED', 'FORBIDDEN'];

/** What is not shown to everybody, where nobody was signed in on purpose. `place` is where the account is used. */
export function failureOfStranger(place: string, error: unknown): unknown {
  if (!(error instanceof GitFailure) || !LOCKED.includes(error.kind)) return error;
  const hint = `The Git account of the project is used for submodules in ${place} alone: move this one there, or make it public.`;
  return new DeployFailure('CLONE_AUTH', error.message, hint, { cause: error });
}

/** The same, where it happened to a submodule. One inside another has named itself already. */
export function failureOfSubmodule(path: string, error: unknown): unknown {
  const failure = sourceFailure(error);
  if (!(failure instanceof DeployFailure) || failure.message.startsWith('Submodule ')) return failure;
  // Neither a branch nor a commit of the submodule is what the user asked for.
  const code = failure.code === 'CLONE_AUTH' ? failure.code : 'CLONE_FAILED';
  return new DeployFailure(code, `Submodule ${path}: ${failure.message}`, failure.hint, { cause: error });
}

export const branchNotFound = (branch: string | null): DeployFailure =>
  branch === null
    ? new DeployFailure(
        'BRANCH_NOT_FOUND',
        'The repository has no commit yet',
        'Push a first commit, then deploy again.',
      )
    : new DeployFailure('BRANCH_NOT_FOUND', `The repository has no branch ${branch}`, MEANINGS.NO_BRANCH[1]);

export const commitNotFound = (sha: string): DeployFailure =>
  new DeployFailure(
    'COMMIT_NOT_FOUND',
    `The repository has no commit ${sha.slice(0, 12)}`,
    'It may never have been pushed, or a force push has removed it: deploy the newest commit of the branch instead.',
  );
