import { readBytes } from './amounts.ts';
import { heldAgainst, MOUNT_KEYS } from './compose-keys.ts';
import type { ComposeMount } from './compose-project.ts';
import type { Spot } from './spot.ts';

export const VOLUME_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
const MODES = new Set(['rw', 'ro', 'z', 'Z', 'nocopy']);
const TMPFS_OPTION = /^(?:size=\d{1,6}[kmg]?|mode=[0-7]{3,4}|uid=\d{1,6}|gid=\d{1,6}|rw|ro|noexec|nosuid|nodev|exec)$/i;
const MOST_TMPFS = 4 * 1024 ** 3;

export interface Mounts {
  volumes: ComposeMount[];
  tmpfs: Record<string, string>;
}

const NONE: Mounts = { volumes: [], tmpfs: {} };

/** Named volumes of the file alone: everything else is a piece of the server. */
export function readMounts(spot: Spot, declared: ReadonlySet<string>): Mounts {
  const read = (each: Spot) => (each.isMap ? readLong(each, declared) : readShort(each, declared));
  const mounts = spot.list().map(each => spot.reading.attempt(() => read(each), NONE));
  return {
    volumes: mounts.flatMap(({ volumes }) => volumes),
    tmpfs: Object.assign({}, ...mounts.map(({ tmpfs }) => tmpfs)),
  };
}

/** `data:/var/lib/data:ro`; a path alone is a volume without a name. */
function readShort(spot: Spot, declared: ReadonlySet<string>): Mounts {
  const text = spot.text();
  const [source = '', target, mode = 'rw', ...rest] = text.split(':');
  if (isPath(source) && target !== undefined) refuseBind(spot, text);
  if (target === undefined) return leaveUnnamed(spot, source);
  const modes = mode.split(',');
  if (rest.length > 0 || modes.some(each => !MODES.has(each)))
    spot.refuse('must look like name:/path or name:/path:ro');
  return mount(spot, source, target, modes.includes('ro'), declared);
}

function readLong(spot: Spot, declared: ReadonlySet<string>): Mounts {
  const fields = heldAgainst(spot, MOUNT_KEYS);
  const type = fields.get('type')?.text() ?? 'volume';
  const target = fields.get('target') ?? spot.refuse('has no target');
  const source = fields.get('source')?.text() ?? '';
  if (type === 'bind' || isPath(source)) refuseBind(spot, source);
  if (type === 'tmpfs') return memory(target, fields.get('tmpfs'));
  if (type !== 'volume') (fields.get('type') ?? spot).refuse('must be volume or tmpfs');
  if (source === '') return leaveUnnamed(spot, target.text());
  return mount(spot, source, target.text(), fields.get('read_only')?.flag() ?? false, declared);
}

function memory(target: Spot, options: Spot | undefined): Mounts {
  const [, size] = (options?.fields() ?? []).find(([key]) => key === 'size') ?? [];
  const path = containerPath(target, target.text());
  return { volumes: [], tmpfs: { [path]: size === undefined ? '' : `size=${readBytes(size, MOST_TMPFS)}` } };
}

/** `/run` or `/run:size=64m,mode=1777`. */
export function readTmpfs(spot: Spot): Record<string, string> {
  const mounts = new Map<string, string>();
  for (const each of spot.isList ? spot.list() : [spot]) {
    const [path = '', options = '', ...rest] = each.text().split(':');
    const isSound = rest.length === 0 && (options === '' || options.split(',').every(word => TMPFS_OPTION.test(word)));
    if (!isSound) each.refuse('must look like /path or /path:size=64m');
    mounts.set(containerPath(each, path), options);
  }
  return Object.fromEntries(mounts);
}

function mount(spot: Spot, volume: string, target: string, isReadOnly: boolean, declared: ReadonlySet<string>): Mounts {
  if (!VOLUME_NAME.test(volume)) spot.refuse('must name a volume by letters, digits, _, . and -');
  if (!declared.has(volume)) spot.refuse('names a volume that the file does not declare', 'Add it below volumes:.');
  return { volumes: [{ volume, path: containerPath(spot, target), isReadOnly }], tmpfs: {} };
}

export function containerPath(spot: Spot, path: string): string {
  const isSound = /^\/[^\p{Cc}:\\]{1,500}$/u.test(path) && !path.split('/').includes('..');
  return isSound ? path : spot.refuse('must be an absolute path inside the container');
}

/** Anything that could be one: a name has neither slashes nor a tilde nor a drive. */
const isPath = (source: string): boolean => /[/\\~]|^\.|^[A-Za-z]$/.test(source);

function refuseBind(spot: Spot, source: string): never {
  if (/docker\.sock|podman\.sock|containerd\.sock/.test(source))
    return spot.refuse('mounts the socket of Docker, which is the server itself', 'No container gets it.');
  return spot.refuse(
    'mounts a folder or file of the server',
    'Use a named volume for data; copy files of the repository into an image by a Dockerfile.',
  );
}

function leaveUnnamed(spot: Spot, path: string): Mounts {
  containerPath(spot, path);
  spot.warn('is left out: a volume without a name would be lost with its container');
  return NONE;
}
