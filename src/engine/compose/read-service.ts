import { readBytes, readDuration } from './amounts.ts';
import { ATTACHMENT_KEYS, heldAgainst, SERVICE_KEYS } from './compose-keys.ts';
import type { ComposeService } from './compose-project.ts';
import { readBuild } from './read-build.ts';
import { readDependencies, startedFirst } from './read-dependencies.ts';
import { readEnvFiles } from './read-env-files.ts';
import { readHealthcheck } from './read-healthcheck.ts';
import { readMounts, readTmpfs } from './read-mounts.ts';
import { readPairs } from './read-pairs.ts';
import { readPorts } from './read-ports.ts';
import type { Spot } from './spot.ts';
import { splitWords } from './words.ts';

/** [registry[:port]/]path[:tag][@digest] */
const IMAGE =
  /^(?:[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?(?::\d{1,5})?\/)?[a-z0-9]+(?:[._/-]{1,2}[a-z0-9]+){0,60}(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;
const HOST_NAME = /^[A-Za-z0-9][\w.-]{0,62}$/;
const MOST_STOP_SECONDS = 120;
const DAY_MS = 24 * 3_600_000;
const MOST_SHARED_BYTES = 2 * 1024 ** 3;

/** A service as the file wants it. Each key is read for itself: what one refuses does not hide what the next one would. */
export function readService(name: string, spot: Spot, declared: ReadonlySet<string>): ComposeService {
  const fields = heldAgainst(spot, SERVICE_KEYS);
  const read = <Value, Fallback>(key: string, reader: (field: Spot) => Value, fallback: Fallback): Value | Fallback => {
    const field = fields.get(key);
    if (field === undefined || field.isNull) return fallback;
    return spot.reading.attempt(() => reader(field), fallback);
  };
  read('security_opt', refuseOptions, undefined);
  read('network_mode', refuseMode, undefined);
  const mounts = read('volumes', each => readMounts(each, declared), { volumes: [], tmpfs: {} });
  const image = read('image', readImage, null);
  const build = read('build', readBuild, null);
  if (!fields.has('image') && !fields.has('build')) spot.reading.attempt(() => spot.refuse(NOTHING_TO_START), null);
  return {
    ...{ name, image, build, isJob: false },
    command: read('command', readWords, null),
    entrypoint: read('entrypoint', readWords, null),
    environment: read('environment', readPairs, {}),
    defaults: read('env_file', readEnvFiles, {}),
    volumes: mounts.volumes,
    tmpfs: { ...mounts.tmpfs, ...read('tmpfs', readTmpfs, {}) },
    dependsOn: [...read('depends_on', readDependencies, []), ...read('links', readLinked, [])],
    aliases: read('networks', readAliases, []),
    ports: read('ports', readPorts, []),
    exposes: read('expose', readPorts, []),
    restart: read('restart', readRestart, 'unless-stopped' as const),
    workingDirectory: read('working_dir', each => each.textLike(/^\/[^\p{Cc}]{0,500}$/u, 'an absolute path'), null),
    user: read('user', each => each.textLike(/^[\w.-]{1,64}(?::[\w.-]{1,64})?$/, 'a user, or user:group'), null),
    stopSeconds: read('stop_grace_period', readStop, null),
    stopSignal: read('stop_signal', each => each.textLike(/^(?:SIG[A-Z0-9+-]{1,12}|\d{1,2})$/, 'a signal'), null),
    hasInit: read('init', each => each.flag(), null),
    isReadOnly: read('read_only', each => each.flag(), false),
    sharedMemoryBytes: read('shm_size', each => readBytes(each, MOST_SHARED_BYTES), null),
    healthcheck: read('healthcheck', readHealthcheck, null),
  };
}

const NOTHING_TO_START = 'has neither an image nor a build';

function readImage(spot: Spot): string {
  const image = spot.textLike(IMAGE, 'the name of an image');
  // Images of other environments on the same server go by these names.
  if (/^(?:[^/]*docker\.io\/)?slipway\//.test(image)) spot.refuse('names an image of another environment');
  if (/^sha256(:|$)/.test(image)) spot.refuse('names an image by its id alone');
  // Without a tag Docker would take a short name for the beginning of an id of any image on the server.
  return /:[^/]+$|@/.test(image) ? image : `${image}:latest`;
}

/** A text is split as a shell would, but no shell runs it. */
function readWords(spot: Spot): string[] {
  if (spot.isList) return spot.texts();
  return splitWords(spot.text()) ?? spot.refuse('has a quote that does not end');
}

function readRestart(spot: Spot): ComposeService['restart'] {
  const text = spot.text();
  if (text === 'no' || text === 'false') return 'no';
  if (/^on-failure(?::\d{1,6})?$/.test(text)) return 'on-failure';
  return ['always', 'unless-stopped', ''].includes(text)
    ? 'unless-stopped'
    : spot.refuse('must be no, always, on-failure or unless-stopped');
}

function readStop(spot: Spot): number {
  const seconds = Math.ceil(readDuration(spot, DAY_MS) / 1000);
  if (seconds > MOST_STOP_SECONDS) spot.warn(`is cut to ${MOST_STOP_SECONDS}s`);
  return Math.min(seconds, MOST_STOP_SECONDS);
}

/** Which networks it is in does not matter here, by which names it is known there does. */
function readAliases(spot: Spot): string[] {
  if (spot.isList) return [];
  return spot.fields().flatMap(([, field]) => {
    const aliases = field.isNull ? undefined : heldAgainst(field, ATTACHMENT_KEYS).get('aliases');
    return aliases?.list().map(each => each.textLike(HOST_NAME, 'a host name')) ?? [];
  });
}

/** A link is a dependency; the names of services are known in the whole network. */
const readLinked = (spot: Spot): ComposeService['dependsOn'] =>
  spot.list().map(each => {
    const [service = '', alias = service] = each.text().split(':');
    if (alias !== service) each.refuse('gives a service another name', 'Use an alias of its network instead.');
    return startedFirst(service);
  });

/** All of ours have it, so asking for it changes nothing. */
function refuseOptions(spot: Spot): void {
  for (const each of spot.list())
    if (!/^no-new-privileges(?:[:=]true)?$/.test(each.text())) each.refuse('would open the server to the container');
}

function refuseMode(spot: Spot): void {
  if (!['bridge', 'default', ''].includes(spot.text())) spot.refuse('would leave the network of its environment');
}
