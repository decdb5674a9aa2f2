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

/**
 * Services that packages start stay: they do not carry our mark, and leave our session. apt-get itself stays in it, where a
 * cancel finds it, if it opens no terminal of its own. Settings that are there already are kept: there is nobody to ask.
 */
const INSTALL_SCRIPT = `
set -e
unset SLIPWAY_WORK SLIPWAY_CALL
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
apt() {
  apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \\
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}
dpkg --force-confdef --force-confold --configure -a
apt update
# From Debian 13 on the client is a package of its own, and so is what it builds images by.
set -- docker.io
for package in docker-cli docker-buildx; do
  if apt-cache show "$package" >/dev/null 2>&1; then set -- "$@" "$package"; fi
done
apt install --no-install-recommends "$@"
`;

/** Installed, by the package or otherwise; a package that was left half-way does not count. */
const FIND_SCRIPT = `
docker --version && dockerd --version || exit 1
case "$(dpkg-query -W -f '\${db:Status-Status}' docker.io 2>/dev/null)" in half-*|unpacked|triggers-*) exit 1;; esac
exit 0
`;

/** It says that it was started before it answers. */
const START_SCRIPT = `
unset SLIPWAY_WORK SLIPWAY_CALL
if [ -d /run/systemd/system ]; then systemctl enable --now docker; else service docker start; fi || exit
tries=0
until docker info >/dev/null 2>&1 || [ "$tries" -ge 30 ]; do tries=$((tries + 1)); sleep 1; done
`;

export const readFacts = () => Command.of('sh', '-c', FACTS_SCRIPT);

/** Without asking for a password: there is nobody to answer. */
export const asRoot = (command: Command, isRoot: boolean) =>
  isRoot ? command : Command.of('sudo', '-n', '--', ...command.words);

export const sayHello = () => Command.of('echo', 'slipway');

export const doNothing = () => Command.of('true');

export const dockerVersion = () => Command.of('docker', 'version', '--format', '{{.Server.Version}}');

export const checkDocker = () => Command.of('sh', '-c', 'docker --version && docker info');

export const findDocker = () => Command.of('sh', '-c', FIND_SCRIPT);

export const findApt = () => Command.of('sh', '-c', 'command -v apt-get');

export const installDocker = () => Command.of('sh', '-c', INSTALL_SCRIPT);

export const startDocker = () => Command.of('sh', '-c', START_SCRIPT);
