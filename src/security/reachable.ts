import { isIP } from 'node:net';
import { AddressRules } from './addresses.ts';

/** Endings of names that mean something in one house only. */
const INNER = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|test|invalid|home\.arpa)$/;

const rules = new AddressRules([]);

export type Reach = 'ANYWHERE' | 'INSIDE' | 'THIS_MACHINE';

/**
 * From where an address can be reached, as far as it shows: by its number, or by a name that is none of the public ones. Names are
 * not looked up: what they stand for here need not be what they stand for elsewhere.
 */
export function reachOf(url: string): Reach {
  const host = new URL(url).hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  if (/^(127\.|::1$)/.test(host) || /(^|\.)localhost$/.test(host) || host === '0.0.0.0' || host === '::')
    return 'THIS_MACHINE';
  if (isIP(host) !== 0) return rules.refusalOf(host) === undefined ? 'ANYWHERE' : 'INSIDE';
  return !host.includes('.') || INNER.test(host) ? 'INSIDE' : 'ANYWHERE';
}
