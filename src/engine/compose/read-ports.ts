import { portNumber } from '../../analysis/declared/container-files.ts';
import { heldAgainst, PORT_KEYS } from './compose-keys.ts';
import type { Spot } from './spot.ts';

/** The container's side of `ports` and `expose`, as far as it is TCP. The server's side is the proxy's. */
export function readPorts(spot: Spot): number[] {
  return spot.list().flatMap(each => (each.isMap ? readLong(each) : readShort(each)));
}

function readLong(spot: Spot): number[] {
  const fields = heldAgainst(spot, PORT_KEYS);
  const target = fields.get('target') ?? spot.refuse('has no target');
  return portsOf(target, target.text(), fields.get('protocol')?.text() ?? 'tcp');
}

/** `8080:3000/tcp`, `127.0.0.1:8080:3000`, `[::1]:8080:3000`, `3000`, `3000-3005`. */
function readShort(spot: Spot): number[] {
  const text = spot.text();
  const [, container, protocol = 'tcp'] = /^(?:[^/]*:)?([\d-]{1,11})(?:\/([a-z]{1,8}))?$/i.exec(text) ?? [];
  if (container === undefined) return spot.refuse('must be a port such as 8080:3000');
  return portsOf(spot, container, protocol);
}

function portsOf(spot: Spot, written: string, protocol: string): number[] {
  const [first = '', last = first, ...rest] = written.split('-');
  const port = portNumber(first);
  if (port === null || portNumber(last) === null || rest.length > 0)
    return spot.refuse('must be a port from 1 to 65535');
  return protocol.toLowerCase() === 'tcp' ? [port] : [];
}
