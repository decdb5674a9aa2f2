import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const PARAMETERS = { parallelism: 1, tagLength: 32, memory: 19 * 1024, passes: 2 };
const AT_ONCE = 2;
export const PASSWORD_LENGTH = { min: 12, max: 256 };

const argon2id = promisify(argon2);

/** Hashing costs 19 MiB and tens of milliseconds each: at most two at a time, the rest wait in line. */
const waiting: (() => void)[] = [];
let busy = 0;

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await derive(password, nonce);
  return `argon2id$${nonce.toString('base64url')}$${tag.toString('base64url')}`;
}

/** Takes the same time whether or not there is a hash to compare with. */
export async function passwordMatches(password: string, hash: string | undefined): Promise<boolean> {
  const [, nonce = 'AAAAAAAAAAAAAAAAAAAAAA', expected = ''] = hash?.split('$') ?? [];
  const tag = await derive(password, Buffer.from(nonce, 'base64url'));
  const wanted = Buffer.from(expected, 'base64url');
  return wanted.length === tag.length && timingSafeEqual(wanted, tag);
}

/** Why a password is refused, or undefined if it is good enough. */
export async function passwordFault(password: string): Promise<string | undefined> {
  const { min, max } = PASSWORD_LENGTH;
  if (password.length < min || password.length > max) return `must have ${min} to ${max} characters`;
  if (new Set(password).size < 4) return 'has too few different characters';
  // A long list, for the moments in which somebody chooses one.
  const { default: commonPasswords } = await import('fxa-common-password-list');
  if (commonPasswords.test(password.toLowerCase())) return 'is one of the commonly used passwords; choose another';
  return undefined;
}

async function derive(password: string, nonce: Buffer): Promise<Buffer> {
  if (busy >= AT_ONCE) await new Promise<void>(resolve => waiting.push(resolve));
  else busy += 1;
  try {
    return await argon2id('argon2id', { message: password.normalize('NFKC'), nonce, ...PARAMETERS });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else busy -= 1;
  }
}
