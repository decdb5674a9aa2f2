import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const LISTEN = `require('node:net').createServer().listen(0, '127.0.0.1', 1, function () { console.log(this.address().port) })`;
const WAIT_MS = 300;

/** A port that drops what comes, as one behind a firewall does: its program is stopped, and its queue is full. */
export class DeafPort {
  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
    private readonly sockets: readonly Socket[],
  ) {}

  static async start(): Promise<DeafPort> {
    const child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const port = Number(line.toString());
    child.kill('SIGSTOP');
    const sockets: Socket[] = [];
    while (await isTaken(port, sockets));
    return new DeafPort(port, child, sockets);
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

async function isTaken(port: number, sockets: Socket[]): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, timeout: WAIT_MS });
  sockets.push(socket);
  socket.on('error', () => undefined);
  return new Promise(resolve => {
    socket.once('connect', () => resolve(true)).once('timeout', () => resolve(false));
  });
}
