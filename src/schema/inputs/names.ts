import { isIP } from 'node:net';
import { Matches, ValidateBy, type ValidationOptions } from 'class-validator';
import { isBranchName } from '../../security/repository-url.ts';

/** A branch that git takes for nothing else. */
export const IsBranch = () =>
  ValidateBy({
    name: 'isBranch',
    validator: {
      validate: value => typeof value === 'string' && isBranchName(value),
      defaultMessage: ({ property } = {} as never) => `${property} must be the name of a branch`,
    },
  });

/** A path inside the repository. */
export const IsFolder = (options: ValidationOptions = { message: '$property must be a path inside the repository' }) =>
  Matches(/^(?!.*(^|\/)\.\.(\/|$))(?!\/)(?!-)[\w.@+ /()[\]-]{0,255}$/, options);

/** A machine's name or address, as a resolver takes it. */
export const IsHost = () =>
  ValidateBy({
    name: 'isHost',
    validator: {
      validate: value => typeof value === 'string' && isHost(value),
      defaultMessage: ({ property } = {} as never) => `${property} must be a host name or an IP address`,
    },
  });

function isHost(text: string): boolean {
  if (text.includes('%') || text.length > 253) return false;
  if (isIP(text) !== 0) return true;
  return text.split('.').every(label => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label));
}

/** One line of text: no control characters, which have no business in a name or a command. */
export const IsPlainText = (max: number) =>
  Matches(new RegExp(`^[^\\p{Cc}\\u2028\\u2029]{1,${max}}$`, 'u'), {
    message: `$property must be 1 to ${max} characters on one line`,
  });
