import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Where senders put the signature of the body, as hex of HMAC-SHA256; some write the algorithm before it. */
const SIGNED: readonly [header: string, prefix: string][] = [
  ['x-slipway-signature', 'sha256='],
  ['x-hub-signature-256', 'sha256='],
  // Of Bitbucket. GitHub's old one of this name is made by SHA-1 and counts for nothing.
  ['x-hub-signature', 'sha256='],
  ['x-forgejo-signature', ''],
  ['x-gitea-signature', ''],
  ['x-gogs-signature', ''],
];

/** GitLab signs nothing: it sends the secret along. */
const SHOWN = 'x-gitlab-token';

export type Proof = 'SIGNED' | 'SHOWN';

/**
 * How a delivery proves that its sender knows the secret, over the bytes as they came; undefined where it does not. However wrong
 * it is, finding out takes the same time.
 */
export function proofOf(
  header: (name: string) => string | undefined,
  body: Uint8Array,
  secret: string,
): Proof | undefined {
  const wanted = createHmac('sha256', secret).update(body).digest('hex');
  const isSigned = SIGNED.map(([name, prefix]) => isSame(header(name), `${prefix}${wanted}`)).includes(true);
  const isShown = isSame(header(SHOWN), secret);
  return isSigned ? 'SIGNED' : isShown ? 'SHOWN' : undefined;
}

/** Digests have one length, whatever was sent. */
function isSame(given: string | undefined, wanted: string): boolean {
  const isEqual = timingSafeEqual(digest(given ?? ''), digest(wanted));
  return given !== undefined && isEqual;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
