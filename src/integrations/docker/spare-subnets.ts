import { createHash } from 'node:crypto';
import { DockerFault } from './docker-fault.ts';

const COUNT = 512;

/**
 * Docker gives a network its addresses from pools that are empty after about thirty networks. Then they are taken from 198.18.0.0/15, which
 * was set aside for measurements and is routed nowhere. Every network begins to look at another place.
 */
export function* spareSubnets(name: string): Generator<string> {
  const first = createHash('sha256').update(name).digest().readUInt16BE() % COUNT;
  for (let step = 0; step < COUNT; step += 1) {
    const index = (first + step) % COUNT;
    yield `198.${18 + Math.floor(index / 256)}.${index % 256}.0/24`;
  }
}

export const isPoolEmpty = (error: unknown): boolean =>
  error instanceof DockerFault && /available, non-overlapping|pools have been fully subnetted/.test(error.message);

export const isSubnetTaken = (error: unknown): boolean =>
  error instanceof DockerFault && /overlaps/.test(error.message);
