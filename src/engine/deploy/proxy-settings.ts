/**
 * What Caddy is told. Any change of its settings starts all of its servers anew: idle connections of every environment are closed, and
 * a client that asks over one at that moment gets no answer; websockets end. So a switch from release to release is none: which port of
 * the loopback answers for an environment is the name of a file, looked for with each request.
 */

/** Where an environment is answered, and by whom behind it: ports of the server. */
export interface ProxyRoute {
  listenPort: number;
  /** On the server's loopback. */
  upstreamPort: number;
}

/** In the container. A folder for each environment, and in it one file, named like the port. */
export const UPSTREAMS = '/config/slipway';
/** While a file of this name lies there, connections are closed with the answer: that is how clients expect it. */
export const CLOSING = 'closing';

/** One of Caddy's servers, as far as we read it back. */
export interface WebServer {
  listen: string[];
}

/**
 * No time is set for whole requests or answers: streams last as long as they last. The second is for a Caddy before 2.7, which cannot keep
 * websockets when its settings change and refuses what it does not know.
 */
export const serversFor = (environmentId: string, listenPort: number) => [
  serverFor(environmentId, listenPort, { stream_close_delay: '24h' }),
  serverFor(environmentId, listenPort, {}),
];

const serverFor = (environmentId: string, listenPort: number, keeping: { stream_close_delay?: string }) => ({
  listen: [`:${listenPort}`],
  routes: [
    { match: fileIn(UPSTREAMS, CLOSING), handle: [closeConnection] },
    { match: fileIn(`${UPSTREAMS}/${environmentId}`, '*'), handle: [] },
    {
      match: [{ vars_regexp: { [FOUND]: { name: 'upstream', pattern: '^/([0-9]+)$' } } }],
      handle: [{ ...passOn, ...keeping }],
      terminal: true,
    },
    { handle: [nobodyThere] },
  ],
  automatic_https: { disable: true },
  read_header_timeout: '30s',
  idle_timeout: '5m',
});

export function listenPortOf({ listen }: WebServer): number | null {
  const [, port] = /:(\d+)$/.exec(listen[0] ?? '') ?? [];
  return port === undefined ? null : Number(port);
}

const FOUND = '{http.matchers.file.relative}';

/** Twice: a file that was found in the folder may be gone when it is looked at, and the new one is then found by the second look. */
const fileIn = (root: string, name: string) => [{ file: { root, try_files: [name, name] } }];

const closeConnection = { handler: 'headers', response: { set: { Connection: ['close'] } } };

const nobodyThere = { handler: 'static_response', status_code: 503, body: 'No release is live here.\n' };

const passOn = {
  handler: 'reverse_proxy',
  upstreams: [{ dial: '127.0.0.1:{http.regexp.upstream.1}' }],
  // While a release is restarted nobody answers for a moment: requests wait for it.
  load_balancing: { try_duration: '5s', try_interval: '100ms' },
  transport: {
    protocol: 'http',
    dial_timeout: '3s',
    // Shorter than what applications have for idle connections, or they would close one while it is used anew. And those of a release that
    // is left are gone as soon.
    keep_alive: { idle_timeout: '2s' },
  },
  // What is said in bits is passed on in bits.
  flush_interval: '50ms',
};
