/**
 * The lab: a container engine and images of its own making, on this machine. `up` builds what is missing and starts it,
 * `down` stops it; what was built is cached. No image is pulled from anywhere.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DOCKER } from './support/docker-program.ts';

const here = dirname(fileURLToPath(import.meta.url));
const cache = process.env.SLIPWAY_LAB_CACHE ?? join(homedir(), '.cache', 'slipway-lab');
const dataRoot = join(cache, 'docker');
const PACKAGES = ['docker.io', 'debootstrap', 'iptables', 'iproute2', 'ssh-audit'];
const BASE_PACKAGES = 'ca-certificates,curl,git,iproute2,iptables,openssh-server,sudo';

/** Our names for what the official images are called, and what each is made from. */
const IMAGES = [
  { recipe: 'node', tags: ['node:24-bookworm-slim'], gather: gatherNode },
  { recipe: 'python', tags: ['python:3.11-slim-bookworm', 'python:3.12-slim-bookworm', 'python:3.13-slim-bookworm'] },
  { recipe: 'caddy', tags: ['caddy:2', 'caddy:2-alpine'] },
  { recipe: 'server', tags: ['slipway-lab/server:bookworm'], gather: gatherServer },
  { recipe: 'bare', tags: ['slipway-lab/bare:bookworm'], gather: gatherServer },
];

/** With `SLIPWAY_LAB=full` also a server of the next Debian, which costs two minutes the first time. */
const FULL_IMAGES = [{ recipe: 'server', base: 'trixie', tags: ['slipway-lab/server:trixie'], gather: gatherServer }];

const actions = { up, down };
const action = actions[process.argv[2]];
if (!action) {
  console.error('usage: lab.mjs up|down');
  process.exit(2);
}
await action();

async function up() {
  mkdirSync(cache, { recursive: true });
  installPackages();
  await startEngine();
  makeBase('bookworm');
  for (const image of IMAGES) makeImage(image);
  if (process.env.SLIPWAY_LAB === 'full') {
    makeBase('trixie');
    for (const image of FULL_IMAGES) makeImage(image);
  }
  console.log('The lab is up.');
}

async function down() {
  const pidFile = join(cache, 'dockerd.pid');
  if (!existsSync(pidFile)) return;
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM');
  } catch {
    // It is gone already.
  }
}

function installPackages() {
  const missing = ['dockerd', 'debootstrap', 'iptables', 'ip', 'ssh-audit'].some(program => !isInstalled(program));
  if (!missing) return;
  if (process.getuid() !== 0) fail('The lab needs root to install Debian packages.');
  run('apt-get', ['update', '-qq']);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...PACKAGES], {
    DEBIAN_FRONTEND: 'noninteractive',
  });
}

async function startEngine() {
  if (isEngineUp()) return;
  const log = openSync(join(cache, 'dockerd.log'), 'a');
  const words = ['--data-root', dataRoot, '--pidfile', join(cache, 'dockerd.pid')];
  spawn('dockerd', words, { detached: true, stdio: ['ignore', log, log] }).unref();
  for (let tries = 0; tries < 120; tries += 1) {
    if (isEngineUp()) return;
    await pause(500);
  }
  fail(`Docker cannot run here; its log is ${join(cache, 'dockerd.log')}`);
}

function makeBase(release) {
  if (hasImage(`debian:${release}`)) return;
  const tar = join(cache, release === 'bookworm' ? 'base.tar.gz' : `base-${release}.tar.gz`);
  if (!existsSync(tar)) {
    const root = mkdtempSync(join(tmpdir(), 'slipway-base-'));
    run('debootstrap', ['--variant=minbase', `--include=${BASE_PACKAGES}`, release, root]);
    run('tar', ['-C', root, '-czf', `${tar}.part`, '.']);
    renameSync(`${tar}.part`, tar);
    rmSync(root, { recursive: true, force: true });
  }
  run(DOCKER, ['import', tar, `debian:${release}`]);
}

/** One whose recipe was changed since is made anew. */
function makeImage({ recipe, base = 'bookworm', tags, gather }) {
  const file = join(here, 'images', `${recipe}.Dockerfile`);
  const mark = `lab.recipe=${digestOf(file, join(here, 'images', 'server', 'start'))}`;
  if (tags.every(tag => hasImage(tag, mark))) return;
  const context = mkdtempSync(join(tmpdir(), 'slipway-image-'));
  gather?.(context, base);
  const named = [...tags.flatMap(tag => ['--tag', tag]), '--label', mark];
  const from = ['--build-arg', `BASE=debian:${base}`];
  run(DOCKER, ['build', '--quiet', '--file', file, ...(gather === gatherServer ? from : []), ...named, context], {
    DOCKER_BUILDKIT: '1',
  });
  rmSync(context, { recursive: true, force: true });
}

/** How it starts, and where this machine gets its packages from, so that the lab's servers get them there too. */
function gatherServer(context, release) {
  cpSync(join(here, 'images', 'server', 'start'), join(context, 'start'));
  const sources = join(context, 'sources');
  mkdirSync(join(sources, 'sources.list.d'), { recursive: true });
  if (!readFileSync('/etc/os-release', 'utf8').includes('VERSION_CODENAME=bookworm')) return;
  const files = readdirSync('/etc/apt/sources.list.d').map(name => join('sources.list.d', name));
  if (existsSync('/etc/apt/sources.list')) files.push('sources.list');
  for (const file of files) {
    const text = readFileSync(join('/etc/apt', file), 'utf8');
    writeFileSync(join(sources, file), text.replaceAll('bookworm', release));
  }
}

/** The pinned Node, and the npm of this machine. */
function gatherNode(context) {
  cpSync(process.execPath, join(context, 'node'));
  cpSync('/etc/ssl/certs/ca-certificates.crt', join(context, 'ca-certificates.crt'), { dereference: true });
  const npm = spawnSync('npm', ['root', '--global'], { encoding: 'utf8' }).stdout.trim();
  cpSync(join(npm, 'npm'), join(context, 'npm'), { recursive: true, dereference: true });
}

function isInstalled(program) {
  return spawnSync('sh', ['-c', 'command -v "$0"', program]).status === 0;
}

function isEngineUp() {
  return spawnSync(DOCKER, ['info'], { stdio: 'ignore' }).status === 0;
}

function hasImage(tag, mark) {
  const words = [
    'image',
    'ls',
    '--quiet',
    '--filter',
    `reference=${tag}`,
    ...(mark ? ['--filter', `label=${mark}`] : []),
  ];
  return spawnSync(DOCKER, words, { encoding: 'utf8' }).stdout.trim() !== '';
}

function digestOf(...files) {
  const hash = createHash('sha256').update(process.version);
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex');
}

function run(program, words, env = {}) {
  const { status } = spawnSync(program, words, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });
  if (status !== 0) fail(`${program} ${words[0]} failed`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
