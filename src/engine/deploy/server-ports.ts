import { readDiskFree, readSockets } from '../../commands/server-ports.commands.ts';
import type { Host } from '../../remote/host.ts';

const LISTEN = '0A';
const ESTABLISHED = '01';
/** 127.0.0.1 as the kernel writes it, by itself and inside of IPv6. */
const LOOPBACK = ['0100007F', '0000000000000000FFFF00000100007F'];

interface Socket {
  localPort: number;
  remoteAddress: string;
  remotePort: number;
  state: string;
}

/** The TCP ports of the server that somebody listens on, at whichever address. */
export async function listeningPorts(host: Host): Promise<Set<number>> {
  const sockets = await socketsOf(host);
  return new Set(sockets.filter(({ state }) => state === LISTEN).map(({ localPort }) => localPort));
}

/** A port from `from` to `to` that nobody listens on and that is not one of `taken`; null if there is none. */
export async function freePort(
  host: Host,
  { from, to, taken = new Set() }: { from: number; to: number; taken?: ReadonlySet<number> },
): Promise<number | null> {
  const listening = await listeningPorts(host);
  const count = to - from + 1;
  // Not always the first: two that ask at once would both be given it.
  const start = Math.floor(Math.random() * count);
  for (let step = 0; step < count; step += 1) {
    const port = from + ((start + step) % count);
    if (!listening.has(port) && !taken.has(port)) return port;
  }
  return null;
}

/** How many connections are open from the server itself to a port of its loopback. */
export async function openConnections(host: Host, port: number): Promise<number> {
  const isOpen = ({ state, remoteAddress, remotePort }: Socket) =>
    state === ESTABLISHED && remotePort === port && LOOPBACK.includes(remoteAddress);
  return (await socketsOf(host)).filter(isOpen).length;
}

/** Where Docker keeps its images. */
export async function diskFreeMb(host: Host): Promise<number> {
  const { stdout } = await host.run(readDiskFree());
  return Number(stdout.toString());
}

async function socketsOf(host: Host): Promise<Socket[]> {
  const { stdout } = await host.run(readSockets());
  return stdout.toString().split('\n').flatMap(socketIn);
}

/** `  0: 0100007F:07E3 00000000:0000 0A …`: addresses, ports and the state in hexadecimal. */
function socketIn(line: string): Socket[] {
  const [, localPort, remoteAddress = '', remotePort, state = ''] =
    /^\s*\d+: [0-9A-F]+:([0-9A-F]+) ([0-9A-F]+):([0-9A-F]+) ([0-9A-F]+) /.exec(line) ?? [];
  if (localPort === undefined || remotePort === undefined) return [];
  return [
    { localPort: Number.parseInt(localPort, 16), remoteAddress, remotePort: Number.parseInt(remotePort, 16), state },
  ];
}
