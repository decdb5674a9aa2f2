import { Command, quote } from './command.ts';

export interface BuildSpec {
  tag: string;
  labels: Readonly<Record<string, string>>;
  /** From the root of the context. */
  dockerfile: string;
  noCache: boolean;
  /** The stage to stop at. */
  target?: string | null;
}

/** The secret that all the others are in: lines of `export KEY='value'` for a shell to read. */
const ALL_VARIABLES = 'slipway-variables';

/**
 * Runs as work, with the context as its input and secrets and arguments as its files: `secret.KEY`, `arg.KEY`. The context is unpacked,
 * since BuildKit heeds a .dockerignore only in a folder. What the source calls its Dockerfile must be part of it, not a link to a file of
 * the server. Values get into the environment of Docker's client, and nowhere else; they come last, for a name may be any.
 */
const BUILD = `
dockerfile=$1
shift
context=/var/tmp/slipway-$(id -u)/$SLIPWAY_WORK/context
umask 022
mkdir "$context" || exit
magic=$(od -An -tx1 -N2 </proc/self/fd/0)
case $magic in *1f*8b*) tar -xzpof - -C "$context" ;; *) tar -xpof - -C "$context" ;; esac || exit
exec </dev/null
cd "$context" && context=$(pwd -P) || exit
for file in "$dockerfile" "$dockerfile.dockerignore" .dockerignore; do
  [ ! -L "$file" ] && [ "$file" != "$dockerfile" ] && continue
  case $(readlink -f -- "$file") in "$context"/*) ;; *) echo "$file is not a file of the source" >&2; exit 1 ;; esac
done
set -- --file "$dockerfile" "$@"
export DOCKER_BUILDKIT=1 BUILDX_BUILDER=default BUILDX_NO_DEFAULT_ATTESTATIONS=1
for SLIPWAY_FILE in "$SLIPWAY_FILES"/secret.*; do
  [ ! -e "$SLIPWAY_FILE" ] || set -- "$@" --secret "id=\${SLIPWAY_FILE##*/secret.},src=$SLIPWAY_FILE"
done
for SLIPWAY_FILE in "$SLIPWAY_FILES"/arg.*; do
  [ -e "$SLIPWAY_FILE" ] || continue
  set -- "$@" --build-arg "\${SLIPWAY_FILE##*/arg.}"
  SLIPWAY_VALUE=$(cat "$SLIPWAY_FILE"; printf x)
  export "\${SLIPWAY_FILE##*/arg.}=\${SLIPWAY_VALUE%x}"
done
exec docker build "$@" .
`;

export const buildCommand = ({ tag, labels, dockerfile, noCache, target }: BuildSpec): Command =>
  Command.of(
    ...['sh', '-c', BUILD, 'slipway', dockerfile, '--progress=plain', '--tag', tag],
    Object.entries(labels).flatMap(([key, value]) => ['--label', `${key}=${value}`]),
    noCache && '--no-cache',
    target != null && `--target=${target}`,
  );

export interface BuildValues {
  secrets: Readonly<Record<string, string>>;
  args: Readonly<Record<string, string>>;
}

/** Each secret by its name, and all in one. An argument that would steer the loader, the shell or Docker's client is a secret only. */
export function buildFiles({ secrets, args }: BuildValues): Record<string, string> {
  const plain = Object.entries(args).filter(([key]) => !STEERS.test(key));
  const hidden = Object.entries({ ...args, ...secrets }).filter(
    ([key]) => Object.hasOwn(secrets, key) || STEERS.test(key),
  );
  for (const [key] of [...plain, ...hidden])
    if (!KEY.test(key)) throw new TypeError(`${JSON.stringify(key)} is no name of a variable`);
  return Object.fromEntries([
    ...plain.map(([key, value]) => [`arg.${key}`, value]),
    ...hidden.map(([key, value]) => [`secret.${key}`, value]),
    [`secret.${ALL_VARIABLES}`, hidden.map(([key, value]) => `export ${key}=${quote(value)}\n`).join('')],
  ]);
}

const KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;

const STEERS = new RegExp(
  [
    '^(LD|DOCKER|BUILDKIT|BUILDX|COMPOSE|SLIPWAY|SSL_CERT|OTEL|GRPC|XDG|GIT|SSH|BASH|LC)_',
    '_PROXY$',
    '^(PATH|HOME|PWD|OLDPWD|SHELL|USER|LOGNAME|TMPDIR|LANG|ENV|IFS|OPTIND|PPID|UID|EUID|SHELLOPTS|BASHOPTS|PS4|TERM)$',
    '^(GODEBUG|GOMAXPROCS|GOGC|GOMEMLIMIT|GOTRACEBACK|NO_COLOR|SOURCE_DATE_EPOCH|EXPERIMENTAL_BUILDKIT_SOURCE_POLICY)$',
  ].join('|'),
  'i',
);
