import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

const CLI = createRequire(import.meta.url).resolve('@stoplight/prism-cli/dist/index.js');

/** Answers as an OpenAPI description says, and refuses what the description does not know. */
export class Prism {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(description: string): Promise<Prism> {
    const child = spawn(process.execPath, [CLI, 'mock', '-p', '0', '-h', '127.0.0.1', description], {
      env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' },
    });
    const url = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.stdout.on('data', chunk => {
        said += chunk;
        const address = /listening on (http:\/\/[\w.:]+)/.exec(said)?.[1];
        if (address !== undefined) resolve(address);
      });
      child.stderr.on('data', chunk => (said += chunk));
      child.once('exit', code => reject(new Error(`Prism ended with ${code}: ${said}`)));
    });
    return new Prism(child, url);
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
  }
}
