import { Command } from './command.ts';

/** The settings of the kernel's network that are looked at. */
export const NETWORK_KEYS = [
  'net.ipv4.conf.all.accept_redirects',
  'net.ipv4.conf.default.accept_redirects',
  'net.ipv4.conf.all.secure_redirects',
  'net.ipv4.conf.default.secure_redirects',
  'net.ipv4.conf.all.send_redirects',
  'net.ipv4.conf.default.send_redirects',
  'net.ipv4.conf.all.accept_source_route',
  'net.ipv4.conf.default.accept_source_route',
  'net.ipv4.conf.all.rp_filter',
  'net.ipv4.conf.default.rp_filter',
  'net.ipv4.icmp_echo_ignore_broadcasts',
  'net.ipv4.icmp_ignore_bogus_error_responses',
  'net.ipv4.tcp_syncookies',
  'net.ipv6.conf.all.accept_redirects',
  'net.ipv6.conf.default.accept_redirects',
  'net.ipv6.conf.all.accept_source_route',
  'net.ipv6.conf.default.accept_source_route',
] as const;

/** Those of the kernel itself: what programs may learn of it, and how files in shared folders are opened. */
export const KERNEL_KEYS = [
  'fs.protected_fifos',
  'fs.protected_hardlinks',
  'fs.protected_regular',
  'fs.protected_symlinks',
  'fs.suid_dumpable',
  'kernel.dmesg_restrict',
  'kernel.kptr_restrict',
  'kernel.randomize_va_space',
  'kernel.unprivileged_bpf_disabled',
] as const;

/** Parts of the kernel that servers do not use and that have let strangers in. */
export const RARE_MODULES = ['dccp', 'firewire-core', 'firewire-ohci', 'rds', 'sctp', 'tipc'] as const;

export const SSHD_DROP_IN = '/etc/ssh/sshd_config.d/00-slipway.conf';
export const UFW_AFTER_RULES = ['/etc/ufw/after.rules', '/etc/ufw/after6.rules'] as const;

/**
 * Everything a look at a server's security wants to know, in one round trip. It reads and changes nothing. sudo forgets by which
 * address and port we came, so that is said before.
 */
export const readSecurityFacts = (): { command: Command; stdin: string } => ({
  command: Command.of('sh', '-c', AS_ROOT_IF_POSSIBLE),
  stdin: SCRIPT,
});

const AS_ROOT_IF_POSSIBLE = `printf '@connection 0\\n %s\\n' "$SSH_CONNECTION"
if [ "$(id -u)" != 0 ] && sudo -n true 2>/dev/null </dev/null; then exec sudo -n sh -s; else exec sh -s; fi`;

/** Each fact is a line \`@name exit-code\` and what was said, one blank in front, so that nothing said looks like the next fact. */
const SCRIPT = `
LC_ALL=C; export LC_ALL
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH
fact() {
  name=$1; shift
  if out=$(timeout 30 "$@" 2>&1 </dev/null); then code=0; else code=$?; fi
  printf '@%s %s\\n' "$name" "$code"
  printf '%s\\n' "$out" | sed 's/^/ /'
}
fact root test "$(id -u)" = 0
fact os cat /etc/os-release
fact systemd test -d /run/systemd/system
fact container sh -c '[ -e /.dockerenv ] || [ -e /run/.containerenv ] || systemd-detect-virt --container --quiet'
fact packages sh -c 'dpkg-query -W -f "\\\${Package} \\\${db:Status-Status}\\\\n" apt-listchanges cron debsums fail2ban ufw unattended-upgrades 2>/dev/null; true'
fact sshd sshd -T
fact sshd-root sshd -T -C user=root,host=localhost,addr=192.0.2.1
fact sshd-include grep -iE '^[[:space:]]*Include[[:space:]].*sshd_config\\.d' /etc/ssh/sshd_config
fact sshd-drop-in sh -c '[ ! -e ${SSHD_DROP_IN} ] || cat ${SSHD_DROP_IN}'
fact ssh-kex ssh -Q kex
fact ssh-ciphers ssh -Q cipher
fact ssh-macs ssh -Q mac
fact ssh-keys ssh -Q HostKeyAlgorithms
fact empty-passwords awk -F: '$2 == "" { print $1 }' /etc/shadow
fact root-accounts awk -F: '$3 == 0 { print $1 }' /etc/passwd
fact notices cat /etc/issue /etc/issue.net
fact ssh-modes sh -c 'stat -c "%a %U %G %F|%n" /etc/ssh/sshd_config /etc/ssh/sshd_config.d/* /etc/ssh/ssh_host_*_key 2>/dev/null; true'
fact sudo-modes sh -c 'stat -c "%a %U %G %F|%n" /etc/sudoers /etc/sudoers.d /etc/sudoers.d/* 2>/dev/null; true'
fact ufw ufw status verbose
fact ufw-block sed -n '/^# BEGIN SLIPWAY/,/^# END SLIPWAY/p' ${UFW_AFTER_RULES.join(' ')}
fact iptables iptables -S
fact firewalld firewall-cmd --state
fact fail2ban fail2ban-client status sshd
fact periodic apt-config dump APT::Periodic
fact upgrades apt-get -s -o Debug::NoLocking=true upgrade
fact lists-age sh -c 'newest=$(find /var/lib/apt/lists -maxdepth 1 -name "*Release" -exec stat -c %Y {} + | sort -n | tail -n 1); [ -n "$newest" ] && echo $((($(date +%s) - newest) / 86400))'
fact reboot-required sh -c '[ ! -e /run/reboot-required ] || echo yes'
fact kernel uname -r
fact newest-kernel sh -c 'ls -v /boot | sed -n "s/^vmlinuz-//p" | tail -n 1'
fact listening ss -Hltnp
fact docker docker version --format '{{.Server.Version}}'
fact docker-ports docker ps --format '{{.Names}}|{{.Ports}}'
fact docker-socket stat -L -c '%a %U %G' /var/run/docker.sock
fact time timedatectl show --property=NTP --property=NTPSynchronized
fact chrony chronyc -n tracking
fact core-limits sh -c 'grep -hsE "^[*][[:space:]]+(hard|-)[[:space:]]+core[[:space:]]+0" /etc/security/limits.conf /etc/security/limits.d/*.conf; true'
fact modules sh -c 'grep -hsE "^[[:space:]]*(install|blacklist)[[:space:]]" /etc/modprobe.d/*.conf; true'
fact debsums sh -c '[ ! -e /etc/default/debsums ] || cat /etc/default/debsums'
fact sysctl sysctl -e ${[...NETWORK_KEYS, ...KERNEL_KEYS].join(' ')}
`;
