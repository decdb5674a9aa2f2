import { Command } from './command.ts';

/** A command of a plan, exactly as it will be said: its words and what it reads. */
export interface PlannedCommand {
  command: Command;
  stdin?: string;
}

export const say = (...words: readonly string[]): PlannedCommand => ({ command: Command.of(...words) });

/** A file's whole text. */
export function writeFile(path: string, text: string, mode = '0644'): PlannedCommand[] {
  return [{ command: Command.of('tee', '--', path), stdin: text }, say('chmod', mode, '--', path)];
}

/** As a person would type it. What is read stands behind it, up to a line of its own. */
export const typed = ({ command, stdin }: PlannedCommand): string =>
  stdin === undefined ? command.toString() : `${command} > /dev/null <<'END'\n${stdin}END`;

export type ServiceVerb = 'reload' | 'restart' | 'enable';

/** Servers have systemd; a container of the lab has the old scripts, which start at boot by themselves. */
export function service(name: string, verb: ServiceVerb, hasSystemd: boolean): PlannedCommand[] {
  if (!hasSystemd) return verb === 'enable' ? [] : [say('service', name, verb)];
  return [say('systemctl', verb === 'reload' ? 'reload-or-restart' : verb, name)];
}

export const installPackages = (names: readonly string[]): PlannedCommand[] => [
  say('apt-get', 'update', '-q'),
  say('env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '-q', '--no-install-recommends', ...names),
];
