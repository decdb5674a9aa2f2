import { Command } from '../../commands/command.ts';
import { type PlannedCommand, say } from '../../commands/harden.commands.ts';
import { UFW_AFTER_RULES } from '../../commands/security.commands.ts';
import { hasOtherFirewall } from '../security/firewall.checks.ts';
import { readUfw, sshPorts, WEB_PORTS } from '../security/firewall-rules.ts';
import { chosen, type Fix, type Wish } from './action.ts';

const UFW_FILES = [
  ...['/etc/default/ufw', '/etc/ufw/ufw.conf', '/etc/ufw/user.rules', '/etc/ufw/user6.rules'],
  ...UFW_AFTER_RULES,
];

/** ufw, with the ports we come by open before it is switched on, and the same for what Docker publishes. */
export const firewallFix: Fix = wish => {
  const checks = chosen(wish, ['firewall', 'docker-firewall']);
  const unopened = missingPorts(wish);
  if (checks.length === 0 && unopened.length === 0) return undefined;
  const guardsDocker = checks.includes('docker-firewall') || isDockerGuarded(wish);
  const ufw = readUfw(wish.facts);
  return {
    name: 'firewall',
    checks,
    commands: [
      ...sshPorts(wish.facts).map(port => say('ufw', 'allow', `${port}/tcp`)),
      ...openPorts(wish).map(port => say('ufw', 'allow', String(port))),
      say('ufw', 'default', 'deny', 'incoming'),
      ...(guardsDocker ? UFW_AFTER_RULES.flatMap(path => writeBlock(path, dockerRules(openPorts(wish)))) : []),
      ufw?.isActive ? say('ufw', 'reload') : say('ufw', '--force', 'enable'),
    ],
    saves: UFW_FILES,
  };
};

/** The web, what the caller names, and what was open before. */
export function openPorts({ facts, allowPorts }: Wish): number[] {
  const ssh = sshPorts(facts);
  const before = readUfw(facts)?.openPorts ?? [];
  const ports = new Set([...WEB_PORTS, ...allowPorts, ...before].filter(port => !ssh.includes(port)));
  return [...ports].sort((a, b) => a - b);
}

/** A port that is asked for is opened although the firewall itself is as it should be. */
function missingPorts(wish: Wish): number[] {
  const ufw = readUfw(wish.facts);
  if (hasOtherFirewall(wish.facts) || ufw?.isActive !== true) return [];
  const ssh = sshPorts(wish.facts);
  return wish.allowPorts.filter(port => !ufw.openPorts.includes(port) && !ssh.includes(port));
}

const isDockerGuarded = ({ facts }: Wish) => (facts.said('ufw-block') ?? '') !== '';

/** ufw reads these files behind its own rules; ours stand between two marks and are replaced as a whole. */
const writeBlock = (path: string, text: string): PlannedCommand[] => [
  say('sed', '-i', '/^# BEGIN SLIPWAY/,/^# END SLIPWAY/d', path),
  { command: Command.of('tee', '-a', '--', path), stdin: text },
];

/**
 * Docker leads connections to containers past ufw, through DOCKER-USER. There the port that the caller asked for is known as
 * the original one. What containers begin themselves, and answers, pass.
 */
const dockerRules = (ports: readonly number[]): string =>
  [
    '# BEGIN SLIPWAY',
    '*filter',
    ':DOCKER-USER - [0:0]',
    '-A DOCKER-USER -m conntrack --ctstate RELATED,ESTABLISHED -j RETURN',
    ...BRIDGES.map(bridge => `-A DOCKER-USER -i ${bridge} -j RETURN`),
    ...ports.flatMap(port =>
      ['tcp', 'udp'].map(
        protocol =>
          `-A DOCKER-USER -p ${protocol} -m conntrack --ctstate DNAT --ctorigdstport ${port} --ctdir ORIGINAL -j RETURN`,
      ),
    ),
    '-A DOCKER-USER -m conntrack --ctstate DNAT -j DROP',
    ...BRIDGES.map(bridge => `-A DOCKER-USER -o ${bridge} -j DROP`),
    '-A DOCKER-USER -j RETURN',
    'COMMIT',
    '# END SLIPWAY',
    '',
  ].join('\n');

const BRIDGES = ['docker0', 'docker_gwbridge', 'br-+'];
