import type { ServerResponse } from 'node:http';

interface Printed {
  time: string;
  from: 1 | 2;
  text: string;
}

/** What the containers of a pretended Docker print, for those who read or follow it. */
export class ContainerOutput {
  readonly #printed = new Map<string, Printed[]>();
  readonly #followers = new Map<string, Set<ServerResponse>>();

  get followers(): number {
    return [...this.#followers.values()].reduce((sum, { size }) => sum + size, 0);
  }

  print(name: string, text: string, from: 1 | 2 = 1, time = new Date().toISOString().replace('Z', '000000Z')): void {
    const line = { time, from, text };
    this.#printed.set(name, [...(this.#printed.get(name) ?? []), line]);
    for (const response of this.#followersOf(name)) response.write(frame(line));
  }

  /** Its followers are told by the end of their answers. */
  end(name: string): void {
    for (const response of this.#followersOf(name)) response.end();
    this.#followers.delete(name);
  }

  serve(name: string, query: URLSearchParams, response: ServerResponse, isRunning: boolean): void {
    response.writeHead(200, { 'content-type': 'application/vnd.docker.raw-stream' });
    const since = Number(query.get('since') ?? 0) * 1000;
    const wanted = (this.#printed.get(name) ?? []).filter(({ time }) => Date.parse(time) >= since);
    const tail = query.get('tail') ?? 'all';
    const lines = tail === 'all' ? wanted : wanted.slice(Math.max(0, wanted.length - Number(tail)));
    response.write(Buffer.concat(lines.map(frame)));
    if (query.get('follow') !== 'true' || !isRunning) {
      response.end();
      return;
    }
    this.#followersOf(name).add(response);
    response.once('close', () => this.#followersOf(name).delete(response));
  }

  #followersOf(name: string): Set<ServerResponse> {
    const followers = this.#followers.get(name) ?? new Set();
    this.#followers.set(name, followers);
    return followers;
  }
}

const frame = ({ time, from, text }: Printed): Buffer => frameOf(from, `${time} ${text}\n`);

/** As Docker sends it of a container without a terminal. */
export function frameOf(from: 1 | 2, text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(8);
  head.writeUInt8(from, 0);
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}
