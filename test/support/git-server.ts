import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeCertificate } from './certificate.ts';

/** What is in a repository: texts, bytes and links by their paths. */
export type Files = Readonly<Record<string, string | Uint8Array | { link: string }>>;

/** Comes before the server's own answer; one that answers itself says so. */
export type Interception = (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean;

interface PublishOptions {
  /** Asks for ann:secret. */
  isPrivate?: boolean;
  /** Without it the server sends large files too, as old ones do. */
  canFilter?: boolean;
}

/** A real Git server: bare repositories behind `git http-backend`, over TLS with a certificate authority of its own. */
export class GitServer {
  readonly caFile: string;
  intercept: Interception | undefined;
  readonly #server: Server;

  private constructor(readonly folder: string) {
    this.caFile = join(folder, 'cert.pem');
    this.#server = createServer(makeCertificate(folder), (request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<GitServer> {
    const server = new GitServer(mkdtempSync(join(tmpdir(), 'slipway-git-server-')));
    await new Promise<void>(resolve => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://localhost:${this.port}`;
  }

  /** Makes a repository with one commit and gives its address; under `private/` it asks for ann:secret. */
  publish(name: string, files: Files, options: PublishOptions = {}): Promise<string> {
    const path = this.init(name, options);
    this.push(path, files, 'first');
    return Promise.resolve(`${this.url}/${path}`);
  }

  /** Makes an empty repository and gives its path. */
  init(name: string, { isPrivate = false, canFilter = true }: PublishOptions = {}): string {
    const path = `${isPrivate ? 'private/' : ''}${name}.git`;
    const bare = join(this.folder, path);
    mkdirSync(dirname(bare), { recursive: true });
    git('.', 'init', '--quiet', '--bare', '--initial-branch=main', bare);
    git(bare, 'config', 'uploadpack.allowFilter', String(canFilter));
    return path;
  }

  /** One commit on a branch of its own history. `extra` are words for git between adding and committing. */
  push(path: string, files: Files, message: string, branch = 'main', ...extra: string[][]): void {
    const work = mkdtempSync(join(this.folder, 'work-'));
    git(work, 'init', '--quiet', '--initial-branch', branch);
    write(work, files);
    git(work, 'add', '-A');
    for (const words of extra) git(work, ...words);
    git(work, 'commit', '--quiet', '--allow-empty', '-m', message);
    git(work, 'push', '--quiet', '--force', join(this.folder, path), `HEAD:refs/heads/${branch}`);
    rmSync(work, { recursive: true });
  }

  /** One more commit on what the branch has, and its hash. */
  commit(path: string, files: Files, message: string, branch = 'main'): string {
    const work = mkdtempSync(join(this.folder, 'work-'));
    git('.', 'clone', '--quiet', '--branch', branch, join(this.folder, path), work);
    write(work, files);
    git(work, 'add', '-A');
    git(work, 'commit', '--quiet', '--allow-empty', '-m', message);
    git(work, 'push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
    rmSync(work, { recursive: true });
    return this.tip(path, branch);
  }

  /** The newest commit of a branch. */
  tip(path: string, branch = 'main'): string {
    return git(join(this.folder, path), 'rev-parse', `refs/heads/${branch}`).trim();
  }

  configure(path: string, name: string, value: string): void {
    git(join(this.folder, path), 'config', name, value);
  }

  /** As servers do from time to time with what no branch leads to any more. */
  forgetOldCommits(path: string): void {
    git(join(this.folder, path), 'reflog', 'expire', '--expire=now', '--all');
    git(join(this.folder, path), 'gc', '--quiet', '--prune=now');
  }

  removeBranch(path: string, branch: string): void {
    git(join(this.folder, path), 'update-ref', '-d', `refs/heads/${branch}`);
  }

  /** The newest commit of a branch. */
  head(path: string, branch = 'main'): string {
    return execFileSync('git', ['-C', join(this.folder, path), 'rev-parse', `refs/heads/${branch}`])
      .toString()
      .trim();
  }

  /** One commit with so many small files, without writing each of them to a disk. */
  fill(path: string, count: number): void {
    const files = Array.from({ length: count }, (_, index) => `M 100644 :1 d${index % 500}/f${index}.txt`).join('\n');
    const input = `blob\nmark :1\ndata 1\na\ncommit refs/heads/main\ncommitter Ann <ann@example.org> 0 +0000\ndata 4\nmany\n${files}\n`;
    execFileSync('git', ['fast-import', '--quiet'], { cwd: join(this.folder, path), input });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (await this.intercept?.(request, response)) return;
    serve(this.folder, request, response);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const AUTHOR = {
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.org',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.org',
};

function write(folder: string, files: Files): void {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, join(folder, file));
    else writeFileSync(join(folder, file), content);
  }
}

function git(folder: string, ...words: string[]): string {
  return execFileSync('git', words, {
    cwd: folder,
    env: { ...process.env, ...AUTHOR, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    encoding: 'utf8',
  });
}

const CREDENTIAL = `Basic ${Buffer.from('ann:secret').toString('base64')}`;

function serve(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'https://localhost');
  if (url.pathname.startsWith('/private/') && request.headers.authorization !== CREDENTIAL) {
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
    return;
  }
  const backend = spawn('git', ['http-backend'], {
    detached: true,
    env: {
      ...process.env,
      ...{
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
      },
      ...{
        REQUEST_METHOD: request.method ?? 'GET',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        REMOTE_ADDR: '127.0.0.1',
      },
      ...{
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      },
    },
  });
  request.pipe(backend.stdin);
  // Who leaves half-way leaves nobody to read the rest.
  response.once('close', () => endGroup(backend));
  answerByCgi(backend.stdout, response);
}

function endGroup({ pid, exitCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself in this moment.
  }
}

/** CGI: headers, an empty line, the body. */
function answerByCgi(output: NodeJS.ReadableStream, response: ServerResponse): void {
  let head = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    output.off('data', onData);
    const lines = head
      .toString('latin1', 0, end)
      .split('\r\n')
      .map(line => line.split(': ') as [string, string]);
    const status = lines.find(([name]) => name === 'Status')?.[1] ?? '200';
    for (const [name, value] of lines) if (name !== 'Status') response.setHeader(name, value);
    response.statusCode = Number.parseInt(status, 10);
    response.write(head.subarray(end + 4));
    output.pipe(response);
  };
  output.on('data', onData);
}
