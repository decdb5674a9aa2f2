/** Where an environment is answered, and by whom behind it: ports of the server. */
export interface ProxyRoute {
  listenPort: number;
  /** On the server's loopback. */
  upstreamPort: number;
}

/** One of Caddy's servers, as far as we set it. */
export interface WebServer {
  listen: string[];
  routes: { handle: Handler[] }[];
  automatic_https: { disable: boolean };
  read_header_timeout: string;
  idle_timeout: string;
}

interface Handler {
  handler: 'reverse_proxy';
  upstreams: { dial: string }[];
  load_balancing: { try_duration: string; try_interval: string };
  transport: { protocol: 'http'; dial_timeout: string };
  flush_interval: string;
}

/** No time is set for whole requests or answers: streams last as long as they last. */
export const serverFor = ({ listenPort, upstreamPort }: ProxyRoute): WebServer => ({
  listen: [`:${listenPort}`],
  routes: [{ handle: [passTo(upstreamPort)] }],
  automatic_https: { disable: true },
  read_header_timeout: '30s',
  idle_timeout: '5m',
});

/** While a release is restarted nobody answers for a moment: requests wait for it. What it says in bits is passed on in bits. */
const passTo = (port: number): Handler => ({
  handler: 'reverse_proxy',
  upstreams: [{ dial: `127.0.0.1:${port}` }],
  load_balancing: { try_duration: '5s', try_interval: '100ms' },
  transport: { protocol: 'http', dial_timeout: '3s' },
  flush_interval: '50ms',
});

export function routeIn({ listen, routes }: WebServer): ProxyRoute | null {
  const listenPort = portOf(listen[0]);
  const upstreamPort = portOf(routes[0]?.handle[0]?.upstreams[0]?.dial);
  return listenPort === null || upstreamPort === null ? null : { listenPort, upstreamPort };
}

function portOf(address: string | undefined): number | null {
  const [, port] = /:(\d+)$/.exec(address ?? '') ?? [];
  return port === undefined ? null : Number(port);
}
