import { isIP } from 'node:net';

/** A repository's address, checked: https or ssh, no credentials in it, nothing a program could take for an option. */
export interface RepositoryUrl {
  /** As git is told it. */
  href: string;
  protocol: 'https' | 'ssh';
  host: string;
  port: number;
  user: string | null;
  /** From the root of the server; of an address such as `git@host:path` from the home of its user. */
  path: string;
  isScpLike: boolean;
}

const USER = '[A-Za-z_][\\w.-]{0,31}';
const HOST = '[A-Za-z0-9-]{1,63}(?:\\.[A-Za-z0-9-]{1,63}){0,8}|\\[[0-9a-fA-F:.]{2,45}\\]';
/** Escapes may hide neither control characters nor dots and slashes: git takes them apart again for ssh. */
const PATH = '(?:[\\w.~+@/-]|%(?!2[EeFf]|5[Cc]|7[Ff])[2-7][0-9A-Fa-f]|%[89A-Fa-f][0-9A-Fa-f]){1,512}';

const URL_LIKE = new RegExp(`^(https|ssh)://(?:(${USER})@)?(${HOST})(?::(\\d{1,5}))?/(${PATH})$`);
const SCP_LIKE = new RegExp(`^(${USER})@(${HOST}):(${PATH})$`);

export function parseRepositoryUrl(text: string): RepositoryUrl | undefined {
  const [, protocol, user = null, host = '', port, path = ''] = URL_LIKE.exec(text) ?? [];
  if (protocol === 'https' && user === null) return checked(protocol, null, host, port ?? '443', path);
  if (protocol === 'ssh') return checked(protocol, user, host, port ?? '22', path);
  const [, scpUser, scpHost = '', scpPath = ''] = SCP_LIKE.exec(text) ?? [];
  return scpUser === undefined ? undefined : checked('ssh', scpUser, scpHost, '22', scpPath, true);
}

/** Another repository on the same server, by its address or by its path; undefined for one that is elsewhere. */
export function siblingOf(base: RepositoryUrl, repository: string): RepositoryUrl | undefined {
  const { protocol, user, host, port, isScpLike } = base;
  const other = parseRepositoryUrl(repository) ?? checked(protocol, user, host, String(port), repository, isScpLike);
  const isSame = other?.protocol === protocol && other.host === host && other.port === port;
  return isSame ? other : undefined;
}

function checked(
  protocol: 'https' | 'ssh',
  user: string | null,
  hostText: string,
  portText: string,
  path: string,
  isScpLike = false,
): RepositoryUrl | undefined {
  const host = hostText.toLowerCase().replace(/^\[|\]$/g, '');
  const port = Number(portText);
  const isSound =
    isHost(host) &&
    port > 0 &&
    port < 65_536 &&
    new RegExp(`^${PATH}$`).test(path) &&
    !/^-|(^|\/)\.\.?(\/|$)/.test(path);
  if (!isSound) return undefined;
  const written = isIP(host) === 6 ? `[${host}]` : host;
  const place = `${written}${port === (protocol === 'https' ? 443 : 22) ? '' : `:${port}`}`;
  const sender = user === null ? '' : `${user}@`;
  const href = isScpLike
    ? `${sender}${written}:${path}`
    : `${protocol}://${sender}${place}/${path.replace(/^\/+/, '')}`;
  return { href, protocol, host, port, user, path, isScpLike };
}

/** Programs differ in what they make of `0x7f.1` or `2130706433`: a name whose last part is a number must be an address. */
function isHost(host: string): boolean {
  if (isIP(host) !== 0) return true;
  const labels = host.split('.');
  const isNumber = /^(\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '');
  return !isNumber && labels.every(label => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label));
}

/** Where a provider is: https, no credentials, no query. The path stays, for those that live below one. */
export function parseProviderUrl(text: string): string | undefined {
  if (!/^https:\/\/[^\s\\@?#]+$/i.test(text) || !URL.canParse(text)) return undefined;
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** A branch as git takes one, and narrower: git itself accepts `$(id)` and runs `--upload-pack=…`. */
const BRANCH = /^[A-Za-z0-9_][\w./+@#=-]{0,199}$/;

export const isBranchName = (name: string): boolean =>
  BRANCH.test(name) && !/\.\.|\/\/|@\{|\.lock(\/|$)|\/\.|\.$|\/$/.test(name);

/** `owner/name`, however deep the groups. */
export const isRepositoryName = (name: string): boolean =>
  /^[\w.-]{1,100}(\/[\w.-]{1,100}){1,10}$/.test(name) && !/(^|\/)\.{1,2}(\/|$)/.test(name);
