/** The groups of operations, in the order in which the documentation shows them. */
export const tags = {
  Auth: 'Joining, signing in and out. Registering mails a code which `verify-otp` takes; from then on one logs in.',
  Account: "One's own profile, sessions, API tokens for scripts, and tickets that open streams from a browser.",
  'Git providers': 'Connected Git accounts, their repositories and branches.',
  Projects: 'Repositories that are or will be deployed, and what the analysis found in them.',
  Environments: 'Running copies of a project: a branch on a server, its variables, services and names.',
  Deployments: 'Attempts to put a commit live: queued, watched, cancelled, rolled back.',
  Servers: 'Machines that are reached by SSH, where environments run.',
  Members: 'Who is in the workspace and who is invited into it.',
  Runs: 'Long work that is no deployment, backup or analysis: start it elsewhere, watch it here or by the events.',
  Audit: 'Who did what, and who was refused. Entries are only ever added.',
  Streams: 'Server-sent events. Browsers, whose EventSource sends no header, open them by a ticket.',
} as const satisfies Record<string, string>;

export type Tag = keyof typeof tags;
