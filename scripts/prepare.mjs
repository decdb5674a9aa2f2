/**
 * Makes `npm start` and `npm test` work on a bare clone: installs and builds what is missing or out of date, and is quick
 * when nothing is. It runs under whatever Node the machine has, before anything is installed: plain JavaScript for Node 20.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD_STAMP, hash, hashSources } from './built.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const INSTALL_STAMP = 'node_modules/.slipway-stamp';
const PINNED_NODE = process.platform === 'win32' ? 'node_modules\\node\\bin\\node.exe' : 'node_modules/.bin/node';
const SSH_BINDING = './node_modules/ssh2/lib/protocol/crypto/build/Release/sshcrypto.node';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const wantedMajor = `v${manifest.dependencies.node.split('.')[0]}.`;

if (!isFresh(INSTALL_STAMP, hashInstall())) install();
if (!isFresh(BUILD_STAMP, hashSources())) build();

function isFresh(stamp, hash) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
}

/** Not the running Node's version: it is the machine's before the install and the pinned one after it. */
function hashInstall() {
  const { dependencies, devDependencies, overrides, allowScripts } = manifest;
  const wanted = JSON.stringify({ dependencies, devDependencies, overrides, allowScripts });
  return hash([process.platform, process.arch, wanted, readFileSync('package-lock.json')]);
}

function install() {
  if (!isInstalledByHand()) {
    console.log('Installing the dependencies; this takes a minute, once.');
    installPackages();
  }
  ensurePinnedNode();
  ensureSshBinding();
  writeFileSync(INSTALL_STAMP, hashInstall());
}

/** npm keeps its own account of what it installed; after an `npm ci` of the user's nothing is left to do. */
function isInstalledByHand() {
  if (!existsSync('node_modules/.package-lock.json')) return false;
  const wanted = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
  const found = JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || (found[path]?.version ?? (optional && version)) === version,
  );
}

/**
 * `npm ci` refuses a lock file without the packages of every other platform, which a partial mirror of the registry cannot
 * name; `npm install` keeps to the same locked versions and takes it.
 */
function installPackages() {
  const common = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const strict = npm(['ci', ...common], 'pipe');
  if (strict.status === 0) return;
  if (npm(['install', '--no-save', ...common]).status === 0) return;
  stopWith(`${strict.stderr}\nThe dependencies could not be installed: see above.`);
}

function ensurePinnedNode() {
  if (hasPinnedNode()) return;
  // The binary comes by an install script, which some users have switched off.
  npm(['rebuild', '--ignore-scripts=false', '--loglevel=error']);
  if (hasPinnedNode()) return;
  stopWith(
    `${PINNED_NODE} is not Node ${wantedMajor}x: the install script of the npm package "node" did not run. Allow it\n` +
      '(npm config set ignore-scripts false), remove node_modules and start again.',
  );
}

function hasPinnedNode() {
  const { stdout } = spawnSync(resolve(PINNED_NODE), ['-v'], { encoding: 'utf8' });
  return stdout?.startsWith(wantedMajor) ?? false;
}

/**
 * The install built ssh2's native part for the Node it ran under. Built for another one it is passed over in silence and
 * encryption runs in slow JavaScript; without a compiler that is how it stays.
 */
function ensureSshBinding() {
  if (loadsSshBinding()) return;
  const headers = `node_modules/node/node_modules/node-${process.platform}-${process.arch}`;
  // They came beside the pinned Node, outside the lock file, so the next `npm install NAME` prunes them.
  if (!existsSync(headers)) npm(['rebuild', 'node', '--loglevel=error'], 'pipe');
  if (!existsSync(headers)) return note('the headers of the pinned Node are missing');
  // The compiler's make files break at a blank in the path of the headers: a link has none.
  const aside = mkdtempSync(join(tmpdir(), 'slipway-headers-'));
  symlinkSync(resolve(headers), join(aside, 'node'), 'junction');
  npm(['rebuild', 'ssh2', '--loglevel=error'], 'pipe', { npm_config_nodedir: join(aside, 'node') });
  rmSync(aside, { recursive: true });
  if (!loadsSshBinding()) note('it could not be compiled');
}

function loadsSshBinding() {
  return spawnSync(resolve(PINNED_NODE), ['-e', `require('${SSH_BINDING}')`]).status === 0;
}

function note(reason) {
  console.log(`ssh2 works without its native part, a little slower: ${reason}.`);
}

function build() {
  console.log('Building.');
  const before = hashSources();
  mkdirSync('dist', { recursive: true });
  rmSync(BUILD_STAMP, { force: true });
  const { status } = spawnSync(resolve(PINNED_NODE), ['scripts/build.mjs'], { stdio: 'inherit' });
  if (status !== 0) stopWith('The build failed: see above.');
  writeFileSync(BUILD_STAMP, before);
}

/** Run by the machine's own Node: the pinned one in node_modules is among the things npm replaces. */
function npm(words, stdio = 'inherit', extra = {}) {
  const path = (process.env.PATH ?? '').split(delimiter).filter(dir => !dir.endsWith(join('node_modules', '.bin')));
  const env = { ...process.env, ...extra, PATH: path.join(delimiter) };
  delete env.NODE_ENV;
  return spawnSync('npm', words, { env, stdio, encoding: 'utf8', shell: process.platform === 'win32' });
}

function stopWith(message) {
  console.error(message);
  process.exit(1);
}
