/** Every job there is, and what it needs to know. Payloads hold ids and sealed values, never a secret in the clear. */
export interface Jobs {
  'mail.send': { id: string; sealed: string };
  'password.forgot': { email: string };
  'rows.prune': Record<string, never>;
  'secrets.reseal': { runId: string };
  'analysis.run': { analysisId: string };
  'project.delete': { runId: string; projectId: string; deleteData?: boolean; force?: boolean };
  'git.check': Record<string, never>;
  'server.look': { serverId: string };
  'server.install-docker': { runId: string; serverId: string };
  'servers.watch': Record<string, never>;
  'server.look-security': { serverId: string };
  'server.check-security': { runId: string; serverId: string };
  'server.harden': {
    runId: string;
    serverId: string;
    checks?: string[] | undefined;
    allowPorts?: number[] | undefined;
    planId?: string | undefined;
  };
  'servers.look-security': Record<string, never>;
  /** Takes up the oldest deployment of the environment that is not finished, whichever one the job was sent for. */
  'environment.deploy': { environmentId: string };
  /** Restarts, stops, starts or deletes, as its run says. */
  'environment.work': { runId: string; environmentId: string; deleteData?: boolean; force?: boolean };
  'apps.watch': Record<string, never>;
  'deployments.sweep': Record<string, never>;
  /** Looks at the branches of environments whose pushes nobody tells of. */
  'git.poll': Record<string, never>;
  /** Arranges how pushes are noticed, or ends it, after autoDeploy was set with something else. */
  'auto-deploy.settle': { environmentId: string };
  /** Takes back a webhook from the provider. The environment may be gone by then. */
  'git.unhook': { workspaceId: string; gitProviderId: string; repository: string; hookId: string };
}

export type JobName = keyof Jobs;

export interface JobContext {
  signal: AbortSignal;
  /** 0 for the first try. */
  attempt: number;
  /** If this one fails too, nobody will try again. */
  isLastTry: boolean;
}

export type Handlers = { [Name in JobName]: (payload: Jobs[Name], context: JobContext) => Promise<void> };

export interface JobRules {
  /** Jobs of one lane run one at a time, in order; without lanes they run side by side. */
  hasLanes: boolean;
  retryLimit: number;
  /** Doubles with each try, up to the longest. */
  retryDelaySeconds: number;
  longestRetrySeconds: number;
  /** How many run at once in one instance. */
  concurrency: number;
  /** Sent by the clock, in cron's words and UTC. */
  cron?: string;
}

const usual: JobRules = {
  hasLanes: false,
  retryLimit: 3,
  retryDelaySeconds: 2,
  longestRetrySeconds: 15 * 60,
  concurrency: 2,
};

/** Their engine makes an outcome of every failure, so what fails such a job is the death of its worker: taken up soon, and often. */
const lasting: JobRules = { ...usual, hasLanes: true, retryLimit: 20, longestRetrySeconds: 4 };

/** A job that fails is tried again; work that ends badly but orderly is a job that completed. */
export const jobRules: { readonly [Name in JobName]: JobRules } = {
  // A mail server may be away for half a day before a mail is given up.
  'mail.send': { ...usual, retryLimit: 50, retryDelaySeconds: 5, concurrency: 4 },
  'password.forgot': usual,
  'rows.prune': { ...usual, concurrency: 1, cron: '17 * * * *' },
  'secrets.reseal': { ...lasting, concurrency: 1 },
  'analysis.run': lasting,
  'project.delete': lasting,
  'git.check': { ...usual, concurrency: 1, cron: '41 */6 * * *' },
  'server.look': { ...usual, hasLanes: true, concurrency: 4 },
  'server.install-docker': lasting,
  'servers.watch': { ...usual, concurrency: 1, retryLimit: 0, cron: '* * * * *' },
  'server.look-security': { ...usual, hasLanes: true, retryLimit: 0 },
  'server.check-security': lasting,
  'server.harden': lasting,
  'servers.look-security': { ...usual, concurrency: 1, retryLimit: 0, cron: '29 * * * *' },
  'environment.deploy': { ...lasting, concurrency: 8 },
  'environment.work': { ...lasting, concurrency: 4 },
  'apps.watch': { ...usual, concurrency: 1, retryLimit: 0, cron: '* * * * *' },
  'deployments.sweep': { ...usual, concurrency: 1, retryLimit: 0, cron: '* * * * *' },
  'git.poll': { ...usual, concurrency: 1, retryLimit: 0, cron: '* * * * *' },
  'auto-deploy.settle': { ...usual, hasLanes: true, retryLimit: 8 },
  'git.unhook': { ...usual, retryLimit: 12 },
};

export const jobNames = Object.keys(jobRules) as JobName[];
