import { GitVendorKind } from '../entities/git-provider.ts';
import { Invalid } from '../errors.ts';
import type { GitAccount, GitVendor } from '../integrations/git/git-vendor.ts';
import { isUsableKey } from '../security/private-key.ts';
import { parseProviderUrl, parseRepositoryUrl } from '../security/repository-url.ts';

export interface TokenWish {
  provider: GitVendorKind;
  token?: string | null;
  baseUrl?: string | null;
  username?: string | null;
  label?: string | null;
}

/** An account as somebody wishes to connect it, with all that can be said against it before anybody is asked. */
export async function readAccount(wish: TokenWish, vendor: GitVendor): Promise<GitAccount> {
  const baseUrl = wish.provider === GitVendorKind.GIT ? repositoryOf(wish) : placeOf(wish, vendor);
  const token = wish.provider === GitVendorKind.GIT ? await credentialOf(wish, baseUrl) : tokenOf(wish);
  return { baseUrl, token, username: wish.username ?? null };
}

function placeOf({ baseUrl }: TokenWish, { defaultBaseUrl, isSelfHosted }: GitVendor): string {
  if (baseUrl == null && defaultBaseUrl === null)
    throw new Invalid({ field: 'baseUrl', message: 'is required for this provider' });
  const place = parseProviderUrl(baseUrl ?? defaultBaseUrl ?? '');
  if (place === undefined)
    throw new Invalid({ field: 'baseUrl', message: 'must be an https address without a user, a query or a fragment' });
  if (!isSelfHosted && place !== defaultBaseUrl)
    throw new Invalid({ field: 'baseUrl', message: 'this provider is at its own address only; leave it out' });
  return place;
}

function repositoryOf({ baseUrl }: TokenWish): string {
  const url = parseRepositoryUrl(baseUrl ?? '');
  if (url !== undefined) return url.href;
  throw new Invalid({
    field: 'baseUrl',
    message: 'must be the address of a repository of the account, by https or ssh',
  });
}

function tokenOf({ token }: TokenWish): string {
  if (token == null) throw new Invalid({ field: 'token', message: 'is required for this provider' });
  if (isOneWord(token)) return token;
  throw new Invalid({ field: 'token', message: 'must be printable characters without blanks or line breaks' });
}

/** By https a token or a password, by ssh a private key, and nothing for what is public. */
async function credentialOf({ token }: TokenWish, baseUrl: string): Promise<string | null> {
  if (token == null) return null;
  const isSsh = parseRepositoryUrl(baseUrl)?.protocol === 'ssh';
  if (isSsh && !(await isUsableKey(token)))
    throw new Invalid({ field: 'token', message: 'must be a private key without a passphrase when it is used by ssh' });
  if (!isSsh && !isOneWord(token))
    throw new Invalid({ field: 'token', message: 'must be printable characters without blanks or line breaks' });
  return token;
}

const isOneWord = (token: string): boolean => /^[\x21-\x7e]+$/.test(token);
