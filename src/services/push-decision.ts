import { type Environment, EnvironmentStatus } from '../entities/environment.ts';
import { HookDecision } from '../entities/hook-delivery.ts';
import { type Project, ProjectStatus } from '../entities/project.ts';
import type { PushEvent } from '../integrations/git/push-events.ts';
import { isWatched } from './watch-paths.ts';

export interface Verdict {
  decision: HookDecision;
  reason: string;
}

export interface Situation {
  environment: Environment;
  project: Project;
  /** The branch that is followed; null where nobody could say which is the default one. */
  branch: string | null;
  /** Somebody wants it decided anew: that it was noticed before is no reason then. */
  isAskedFor: boolean;
}

const SKIP = /\[(skip ci|ci skip|skip deploy)\]/i;

/** Whether a push is deployed, and why, or why not. */
export function judge(push: PushEvent, situation: Situation): Verdict {
  const refusal = REASONS.map(reason => reason(push, situation)).find(reason => reason !== undefined);
  if (refusal !== undefined) return { decision: HookDecision.IGNORED, reason: refusal };
  const { watchPaths } = situation.environment;
  const isBlind = watchPaths.length > 0 && push.changedPaths === null;
  const reason = isBlind
    ? `A push to ${push.branch}; it is not known which files it changed, so watchPaths could not be asked`
    : `A push to ${push.branch}`;
  return { decision: HookDecision.DEPLOYED, reason };
}

export const isPush = ({ event }: PushEvent): boolean => event === 'push' || event === 'poll';

type Reason = (push: PushEvent, situation: Situation) => string | undefined;

/** The first that applies is told. */
const REASONS: readonly Reason[] = [
  ({ event }) => (event === 'ping' ? 'The provider asked whether anybody listens: yes' : undefined),
  ({ event }) => (event === 'tag' ? 'Tags are not deployed' : undefined),
  ({ event, branch }) => (event === 'delete' ? `The ${branch === null ? 'tag' : 'branch'} was deleted` : undefined),
  push => (isPush(push) ? undefined : `Only pushes are deployed; this was "${push.event}"`),
  ({ branch, sha }) => (branch === null || sha === null ? 'It does not say what was pushed' : undefined),
  (_, { environment }) => (environment.autoDeploy ? undefined : 'Auto-deploy is off'),
  (_, { branch }) => (branch === null ? 'The default branch is not known; give the environment a branch' : undefined),
  (push, { branch }) =>
    push.branch === branch ? undefined : `The push was to ${push.branch}; this environment follows ${branch}`,
  ({ sha, branch }, { environment, isAskedFor }) =>
    !isAskedFor && environment.seenCommit === sha && environment.seenBranch === branch
      ? 'The commit was noticed before'
      : undefined,
  ({ message }) => {
    const [, marker] = SKIP.exec(message ?? '') ?? [];
    return marker === undefined ? undefined : `The commit says [${marker.toLowerCase()}]`;
  },
  (_, { environment, project }) => standsInTheWay(environment, project),
  ({ changedPaths }, { environment: { watchPaths } }) =>
    watchPaths.length === 0 || changedPaths === null || isWatched(watchPaths, changedPaths)
      ? undefined
      : 'No file was changed that is in watchPaths',
];

function standsInTheWay({ status, serverId }: Environment, project: Project): string | undefined {
  const isLeaving = status === EnvironmentStatus.DELETING || status === EnvironmentStatus.DELETE_FAILED;
  if (isLeaving) return 'The environment is being deleted';
  if (project.status === ProjectStatus.DELETING || project.status === ProjectStatus.DELETE_FAILED)
    return 'The project is being deleted';
  if (serverId === null) return 'The environment is on no server yet';
  return status === EnvironmentStatus.STOPPED
    ? 'The environment is stopped; start it, then pushes are deployed again'
    : undefined;
}
