import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

type Files = Readonly<Record<string, string>>;

/** A real Git server: bare repositories behind `git http-backend`, over TLS with a certificate authority of its own. */
export class GitServer {
  readonly caFile: string;
  readonly #server: Server;

  private constructor(
    private readonly folder: string,
    server: Server,
  ) {
    this.#server = server;
    this.caFile = join(folder, 'cert.pem');
  }

  static async start(): Promise<GitServer> {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-git-server-'));
    makeCertificate(folder);
    const options = { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(join(folder, 'cert.pem')) };
    const server = createServer(options, (request, response) => serve(folder, request, response));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return new GitServer(folder, server);
  }

  get url(): string {
    return `https://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Makes a repository with one commit and gives its address; under `private/` it asks for ann:secret. */
  publish(name: string, files: Files, { isPrivate = false } = {}): Promise<string> {
    const path = `${isPrivate ? 'private/' : ''}${name}.git`;
    const bare = join(this.folder, path);
    mkdirSync(dirname(bare), { recursive: true });
    git('.', 'init', '--quiet', '--bare', '--initial-branch=main', bare);
    git(bare, 'config', 'uploadpack.allowFilter', 'true');
    this.push(path, files, 'first');
    return Promise.resolve(`${this.url}/${path}`);
  }

  push(path: string, files: Files, message: string, branch = 'main'): void {
    const work = mkdtempSync(join(this.folder, 'work-'));
    git(work, 'init', '--quiet', '--initial-branch', branch);
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(work, file)), { recursive: true });
      writeFileSync(join(work, file), text);
    }
    git(work, 'add', '-A');
    git(work, 'commit', '--quiet', '--allow-empty', '-m', message);
    git(work, 'push', '--quiet', '--force', join(this.folder, path), `HEAD:refs/heads/${branch}`);
    rmSync(work, { recursive: true });
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

function git(folder: string, ...words: string[]): void {
  execFileSync('git', words, {
    cwd: folder,
    env: { ...process.env, ...AUTHOR, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  });
}

function makeCertificate(folder: string): void {
  const words = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
  ];
  const files = [
    '-addext',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
    '-keyout',
    join(folder, 'key.pem'),
    '-out',
    join(folder, 'cert.pem'),
  ];
  execFileSync('openssl', [...words, ...files], { stdio: 'ignore' });
}

const CREDENTIAL = `Basic ${Buffer.from('ann:secret').toString('base64')}`;

function serve(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'https://localhost');
  if (url.pathname.startsWith('/private/') && request.headers.authorization !== CREDENTIAL) {
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
    return;
  }
  const backend = spawn('git', ['http-backend'], {
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
  answerByCgi(backend.stdout, response);
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
