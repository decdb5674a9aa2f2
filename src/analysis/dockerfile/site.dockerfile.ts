import {
  cmd,
  copy,
  env,
  expose,
  from,
  type Instruction,
  isCopyable,
  runWords,
  user,
  writeLines,
} from './dockerfile.ts';

export interface SiteFiles {
  /** The stage that built them; without one they are in the build context. */
  readonly stage?: string;
  /** Absolute in a stage, relative in the context. */
  readonly path: string;
  readonly port: number;
  /** Unknown paths are the browser's to route: they get index.html. Otherwise they get 404.html and its status. */
  readonly isSinglePage: boolean;
}

/** The last stage of every static site: Caddy, without its admin door, as nobody in particular. */
export function serveSite({ stage, path, port, isSinglePage }: SiteFiles): Instruction[] {
  return [
    from('caddy:2-alpine', 'runtime'),
    writeLines('/etc/caddy/Caddyfile', caddyfile(isSinglePage)),
    copy([path], '/srv', stage === undefined ? {} : { from: stage }),
    env({ PORT: port, XDG_CONFIG_HOME: '/tmp', XDG_DATA_HOME: '/tmp' }),
    user('1000:1000'),
    expose(port),
    cmd(['caddy', 'run', '--config', '/etc/caddy/Caddyfile', '--adapter', 'caddyfile']),
  ];
}

/** A folder whose name COPY would misread is moved to one it cannot; the name stays a word of its own on the way. */
export function siteFolder(directory: string): { path: string; moving: Instruction } {
  const absolute = directory === '.' ? '/app' : `/app/${directory}`;
  if (isCopyable(absolute)) return { path: absolute, moving: null };
  return { path: '/site', moving: runWords('cp', '-R', '--', absolute, '/site') };
}

function caddyfile(isSinglePage: boolean): string[] {
  const fallback = isSinglePage ? ' /index.html' : '';
  const notFound = ['  handle_errors {', '    rewrite * /404.html', '    file_server', '  }'];
  return [
    ...['{', '  admin off', '  auto_https off', '}'],
    ...[':{$PORT:8080} {', '  root * /srv', '  encode zstd gzip'],
    `  try_files {path} {path}.html {path}/index.html${fallback}`,
    ...['  file_server {', '    hide .git .env*', '  }'],
    ...(isSinglePage ? [] : notFound),
    '}',
  ];
}
