/** A repository's address, checked: https or ssh, no credentials in it, nothing a program could take for an option. */
export interface RepositoryUrl {
  href: string;
  protocol: 'https' | 'ssh';
  host: string;
  port: number;
}

const HTTPS = /^https:\/\/([A-Za-z0-9.-]{1,253}|\[[0-9a-f:]+\])(?::(\d{1,5}))?\/[\w.~%+@/-]{1,512}$/;
const SSH =
  /^ssh:\/\/(?:([a-z_][\w.-]{0,31})@)?([A-Za-z0-9.-]{1,253}|\[[0-9a-f:]+\])(?::(\d{1,5}))?\/[\w.~%+@/-]{1,512}$/;
const SCP_LIKE = /^([a-z_][\w.-]{0,31})@([A-Za-z0-9.-]{1,253}):([\w.~+@/-]{1,512})$/;

export function parseRepositoryUrl(text: string): RepositoryUrl | undefined {
  const scp = SCP_LIKE.exec(text);
  const href = scp ? `ssh://${scp[1]}@${scp[2]}/${scp[3]?.replace(/^\//, '')}` : text;
  if (href.split('/').includes('..')) return undefined;
  const https = HTTPS.exec(href);
  if (https) return { href, protocol: 'https', host: bare(https[1]), port: Number(https[2] ?? 443) };
  const ssh = SSH.exec(href);
  if (ssh) return { href, protocol: 'ssh', host: bare(ssh[2]), port: Number(ssh[3] ?? 22) };
  return undefined;
}

const bare = (host: string | undefined): string => (host ?? '').replace(/^\[|\]$/g, '');

/** A branch as git takes one, and narrower: git itself accepts `$(id)` and runs `--upload-pack=…`. */
const BRANCH = /^[A-Za-z0-9_][\w./+@#=-]{0,199}$/;

export const isBranchName = (name: string): boolean =>
  BRANCH.test(name) && !/\.\.|\/\/|@\{|\.lock(\/|$)|\/\.|\.$|\/$/.test(name);

/** `owner/name`, however deep the groups. */
export const isRepositoryName = (name: string): boolean =>
  /^[\w.-]{1,100}(\/[\w.-]{1,100}){1,10}$/.test(name) && !/(^|\/)\.{1,2}(\/|$)/.test(name);
