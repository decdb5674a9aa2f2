import { Command } from './command.ts';

/** Nothing of a user's is in these texts: they are the same for every machine. One line a fact. */
const FACTS_SCRIPT = `
PRETTY_NAME=; [ -r /etc/os-release ] && . /etc/os-release
folder=/var/lib/docker; [ -d "$folder" ] || folder=/var/lib; [ -d "$folder" ] || folder=/
echo "os=\${PRETTY_NAME:-$(uname -s)}"
echo "kernel=$(uname -r)"
echo "arch=$(uname -m)"
echo "cpus=$(getconf _NPROCESSORS_ONLN)"
echo "memoryMb=$(awk '/^MemTotal/ {print int($2/1024)}' /proc/meminfo)"
echo "diskFreeMb=$(df -Pm "$folder" | awk 'NR==2 {print $4}')"
echo "uid=$(id -u)"
`;

const INSTALL_SCRIPT = `
set -e
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
dpkg --configure -a
apt-get -q -o DPkg::Lock::Timeout=300 update
apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends docker.io
`;

const START_SCRIPT = `
if [ -d /run/systemd/system ]; then systemctl enable --now docker; else service docker start; fi
`;

export const readFacts = () => Command.of('sh', '-c', FACTS_SCRIPT);

/** Without asking for a password: there is nobody to answer. */
export const asRoot = (command: Command, isRoot: boolean) =>
  isRoot ? command : Command.of('sudo', '-n', '--', ...command.words);

export const sayHello = () => Command.of('echo', 'slipway');

export const doNothing = () => Command.of('true');

export const dockerVersion = () => Command.of('docker', 'version', '--format', '{{.Server.Version}}');

export const findApt = () => Command.of('sh', '-c', 'command -v apt-get');

export const installDocker = () => Command.of('sh', '-c', INSTALL_SCRIPT);

export const startDocker = () => Command.of('sh', '-c', START_SCRIPT);
