import { Command } from './command.ts';
import type { Prefix } from './work.commands.ts';

/** Says `self` or `root`, whichever Docker answers to; the second only where sudo asks for no password. */
const FIND_WAY = `
ask() { "$@" docker version --format '{{.Server.Version}}' >/dev/null; }
command -v docker >/dev/null || { echo 'docker is not installed' >&2; exit 1; }
if complaint=$(ask env 2>&1); then echo self
elif [ "$(id -u)" != 0 ] && ask sudo -n --; then echo root
else echo "$complaint" >&2; exit 1
fi
`;

export const findDockerWay = () => Command.of('sh', '-c', FIND_WAY);

/** The engine's API over the program's standard input and output. */
export const dialDocker = (prefix: Prefix) => Command.of(prefix, 'docker', 'system', 'dial-stdio');
