import { parseRepositoryUrl, type RepositoryUrl, siblingOf } from '../../security/repository-url.ts';
import type { GitLogin } from '../git-sessions.ts';

export interface Submodule {
  path: string;
  /** As `.gitmodules` has it. */
  url: string;
  isLeftOut: boolean;
}

/** The answer of `git config --null --list`: `submodule.<name>.<what>\n<value>`. */
export function parseSubmodules(text: string): Submodule[] {
  const found = new Map<string, Record<string, string>>();
  for (const entry of text.split('\0')) {
    const [, name, what, value] = /^submodule\.(.+)\.([a-z]+)\n(.*)$/s.exec(entry) ?? [];
    if (name === undefined || what === undefined || value === undefined) continue;
    found.set(name, { ...found.get(name), [what]: value });
  }
  return [...found.values()].flatMap(({ path, url, update }) =>
    path === undefined || url === undefined ? [] : [{ path, url, isLeftOut: update === 'none' }],
  );
}

/**
 * Where a submodule is: by an address of its own, or by one that starts at its parent's, as git reads them: each `../` takes a
 * name off the end. Undefined for what is neither https nor ssh.
 */
export function submoduleUrl(parent: RepositoryUrl, url: string): RepositoryUrl | undefined {
  if (!/^\.\.?\//.test(url)) return parseRepositoryUrl(url);
  const above = parent.path.replace(/\/+$/, '').split('/');
  let rest = url;
  for (let step = /^\.\.?\/+/.exec(rest); step !== null; step = /^\.\.?\/+/.exec(rest)) {
    if (rest.startsWith('../') && above.pop() === undefined) return undefined;
    rest = rest.slice(step[0].length);
  }
  return siblingOf(parent, [...above, rest].join('/'));
}

/**
 * With what and where a submodule is fetched. The credential goes to the server of the repository itself and to no other, and there only
 * for repositories of the same owner: whoever may push to one would else be shown all that the account can read. People often write
 * such addresses for ssh; who is signed in by https gets there by https.
 */
export function wayTo(
  submodule: RepositoryUrl,
  main: RepositoryUrl,
  login: GitLogin,
): { url: RepositoryUrl; isTrusted: boolean } {
  const isSameServer = submodule.host === main.host;
  const isOwn = isSameServer && ownerOf(submodule) === ownerOf(main);
  if (isSameServer && submodule.protocol === 'ssh' && main.protocol === 'https' && login.privateKey === null) {
    const url = siblingOf(main, submodule.path.replace(/^\/+/, ''));
    if (url !== undefined) return { url, isTrusted: isOwn };
  }
  const isTrusted = isOwn && submodule.protocol === main.protocol && submodule.port === main.port;
  return { url: submodule, isTrusted };
}

/** All of the path but the repository's own name: an account, an organisation, a group with the groups it is in. */
export const ownerOf = ({ path }: RepositoryUrl): string =>
  path
    .replace(/^\/+|\/+$/g, '')
    .split('/')
    .slice(0, -1)
    .join('/');
