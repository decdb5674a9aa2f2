import type { Command } from './command.ts';
import type { PlannedCommand } from './harden.commands.ts';
import { asRoot } from './root.commands.ts';
import { KERNEL_KEYS, NETWORK_KEYS } from './security.commands.ts';

/** Where on the server the old state is kept, one folder for each run. */
export const switchFolder = (runId: string): string => `/var/lib/slipway/hardening/${runId}`;

/** How a command of the switch ends when there is nothing armed any more. */
export const NOT_ARMED = 75;

export interface SwitchSpec {
  folder: string;
  seconds: number;
  /** Where we come from, empty if unknown: if our vain tries to come in had us banned, that is put back too. */
  address: string;
  /** Files that exist or not. */
  paths: readonly string[];
}

/** Saves the files and the firewall, then starts what will put them back after so many seconds, apart from our connection. */
export const armSwitch = (username: string, { folder, seconds, address, paths }: SwitchSpec) => ({
  command: asRoot(username, 'sh', '-s', '--', folder, String(seconds), address, ...paths),
  stdin: ARM,
});

/** Says a command only while the switch is armed, and holds off the switch meanwhile: never one half of each. */
export const whileArmed = (username: string, folder: string, { command, stdin }: PlannedCommand) => ({
  command: asRoot(username, 'sh', '-c', WHILE_ARMED, 'sh', folder, ...command.words),
  stdin,
});

/** Puts the old state back at once, unless that has happened. */
export const fireSwitch = (username: string, folder: string): Command =>
  asRoot(username, 'sh', `${folder}/switch`, folder, 'now');

/** From here on the new state stays. Fails with NOT_ARMED where the switch was quicker. */
export const disarmSwitch = (username: string, folder: string): Command =>
  asRoot(username, 'sh', '-c', DISARM, 'sh', folder);

/** One word: absent, armed, reverted or kept. */
export const readSwitch = (username: string, folder: string): Command =>
  asRoot(username, 'sh', '-c', READ, 'sh', folder);

/** The switch waits for a command that is being said; one that hangs must not keep it waiting for ever. */
const COMMAND_SECONDS = 25;

// What is started here stays, so it does not carry the mark by which the processes of a lost call are ended.

const WHILE_ARMED = `unset SLIPWAY_CALL; folder=$1; shift; exec 9>"$folder/lock"; flock 9; [ -e "$folder/armed" ] || exit ${NOT_ARMED}; PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C timeout ${COMMAND_SECONDS} "$@" 9>&-`;

const DISARM = `folder=$1; exec 9>"$folder/lock"; flock 9; [ -e "$folder/armed" ] || exit ${NOT_ARMED}; rm "$folder/armed"; touch "$folder/kept"; kill -- "-$(cat "$folder/pid")" 2>/dev/null || true`;

const READ = `for state in armed reverted kept; do if [ -e "$1/$state" ]; then echo "$state"; exit 0; fi; done; echo absent`;

/**
 * The program that waits and puts back. ufw that is switched off leaves its chains, and takes them for connected when it is
 * switched on again: where there were none, none are left. \`undo\` is for people: it also works on what was kept.
 */
const SWITCH = `folder=$1
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH
LC_ALL=C; export LC_ALL
if [ "$2" = wait ]; then echo $$ > "$folder/pid"; touch "$folder/armed"; sleep "$3"; fi
exec 9>"$folder/lock"; flock -w 30 9
if [ "$2" != undo ] && [ ! -e "$folder/armed" ]; then exit 0; fi
service_do() { if [ -d /run/systemd/system ]; then timeout 20 systemctl "$2" "$1"; else timeout 20 service "$1" "$2"; fi; }
remove_ufw() {
  for chain in INPUT FORWARD OUTPUT; do
    "$1" -S "$chain" | sed -n 's/^-A \\(.* -j ufw6*-.*\\)$/-D \\1/p' | while read -r rule; do "$1" $rule; done
  done
  chains=$("$1" -S | sed -n 's/^-N \\(ufw6*-.*\\)$/\\1/p')
  for chain in $chains; do "$1" -F "$chain"; done
  for chain in $chains; do "$1" -X "$chain"; done
}
if command -v ufw && [ ! -e "$folder/ufw-was-active" ]; then timeout 20 ufw --force disable; fi
for name in "$folder"/saved/*.path; do
  path=$(cat "$name"); copy=\${name%.path}.copy
  if [ -e "$copy" ]; then cp -a --remove-destination "$copy" "$path"; else rm -f "$path"; fi
done
service_do ssh reload 9>&-
if command -v ufw && [ -e "$folder/ufw-was-active" ]; then timeout 20 ufw reload; fi
for program in iptables ip6tables; do
  if [ -e "$folder/$program-without-ufw" ]; then remove_ufw "$program"; fi
  if [ -s "$folder/$program" ]; then "$program-restore" --noflush < "$folder/$program"; fi
  if [ -e "$folder/$program-without-docker" ]; then "$program" -F DOCKER-USER && "$program" -X DOCKER-USER; fi
done
sysctl -q -e -p "$folder/sysctl"
if [ -e "$folder/fail2ban-ran" ]; then service_do fail2ban restart 9>&-
elif command -v fail2ban-client; then service_do fail2ban stop 9>&-; fi
if [ -s "$folder/address" ]; then timeout 20 fail2ban-client unban "$(cat "$folder/address")"; fi
rm -f "$folder/armed" "$folder/kept"; touch "$folder/reverted"
`;

const ARM = `set -eu
unset SLIPWAY_CALL
folder=$1; seconds=$2; address=$3; shift 3
umask 077
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH
LC_ALL=C; export LC_ALL
if [ -e "$folder/armed" ]; then exit 0; fi
rm -rf "$folder"; mkdir -p "$folder/saved"
printf '%s' "$address" > "$folder/address"
number=0
for path in "$@"; do
  number=$((number + 1))
  printf '%s' "$path" > "$folder/saved/$number.path"
  if [ -e "$path" ]; then cp -a "$path" "$folder/saved/$number.copy"; fi
done
if command -v ufw >/dev/null && ufw status | grep -q '^Status: active'; then touch "$folder/ufw-was-active"; fi
if command -v fail2ban-client >/dev/null && fail2ban-client ping >/dev/null 2>&1; then touch "$folder/fail2ban-ran"; fi
sysctl -e ${[...NETWORK_KEYS, ...KERNEL_KEYS].join(' ')} > "$folder/sysctl" 2>/dev/null || true
for program in iptables ip6tables; do
  if ! command -v "$program" >/dev/null; then continue; fi
  if ! "$program" -S | grep -q '^-N ufw'; then touch "$folder/$program-without-ufw"; fi
  {
    echo '*filter'
    "$program" -S INPUT | sed 's/^-P INPUT \\(.*\\)$/:INPUT \\1 [0:0]\\n-F INPUT/'
    "$program" -S FORWARD | sed -n 's/^-P FORWARD \\(.*\\)$/:FORWARD \\1 [0:0]/p'
    if "$program" -S DOCKER-USER >/dev/null 2>&1; then
      echo ':DOCKER-USER - [0:0]'; "$program" -S DOCKER-USER | sed '/^-N /d'
    else touch "$folder/$program-without-docker"; fi
    echo COMMIT
  } > "$folder/$program" 2>/dev/null || rm -f "$folder/$program"
done
cat > "$folder/switch" <<'SWITCH'
${SWITCH}SWITCH
if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null; then
  systemd-run --quiet --collect sh "$folder/switch" "$folder" wait "$seconds" >"$folder/log" 2>&1
else
  setsid sh "$folder/switch" "$folder" wait "$seconds" </dev/null >"$folder/log" 2>&1 &
fi
tries=0
until [ -e "$folder/armed" ]; do
  tries=$((tries + 1)); if [ "$tries" -gt 50 ]; then echo 'the switch did not start' >&2; exit 1; fi
  sleep 0.1
done
`;
