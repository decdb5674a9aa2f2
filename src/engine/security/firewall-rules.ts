import { isIP } from 'node:net';
import type { SecurityFacts } from './security-facts.ts';

/** Ports that stay open unless told otherwise, besides the one we come by: the web. */
export const WEB_PORTS = [80, 443] as const;

/** What ufw says of itself. */
export interface Ufw {
  isActive: boolean;
  /** New connections are refused unless a rule lets them in. */
  deniesByDefault: boolean;
  /** Single ports that are open to everybody. */
  openPorts: number[];
}

export function readUfw(facts: SecurityFacts): Ufw | undefined {
  const lines = facts.lines('ufw');
  if (lines === undefined) return undefined;
  const openPorts = lines.flatMap(line => {
    const [, port] = /^(\d+)(?:\/tcp)?\s+ALLOW IN\s+Anywhere(?:\s|$)/.exec(line) ?? [];
    return port === undefined ? [] : [Number(port)];
  });
  return {
    isActive: lines.includes('Status: active'),
    deniesByDefault: lines.some(line => /^Default: (deny|reject) \(incoming\)/.test(line)),
    openPorts: [...new Set(openPorts)],
  };
}

/** The ports that sshd hears on, and the one we came by. None of them may ever be shut. */
export function sshPorts(facts: SecurityFacts): number[] {
  const [, , , ours] = (facts.said('connection') ?? '').split(' ');
  const ports = [...facts.settings('sshd', 'port'), ours ?? ''].map(Number);
  return [...new Set(ports.filter(port => Number.isInteger(port) && port > 0 && port < 65_536))].sort((a, b) => a - b);
}

/** The address by which the server sees us; empty if it did not say. */
export function ownAddress(facts: SecurityFacts): string {
  const [from = ''] = (facts.said('connection') ?? '').split(' ');
  return isIP(from) === 0 ? '' : from;
}

/** The chain through which everything passes on its way to a container. */
export interface DockerChain {
  /** New connections to containers are dropped unless a rule lets them pass. */
  drops: boolean;
  /** The published ports that our own rules let pass; undefined where the rules are somebody else's. */
  openPorts: number[] | undefined;
}

export function readDockerChain(facts: SecurityFacts): DockerChain | undefined {
  const lines = facts.lines('iptables');
  if (lines === undefined) return undefined;
  const rules = lines.filter(line => line.startsWith('-A DOCKER-USER '));
  const ports = rules.flatMap(rule => {
    const [, port] = /--ctorigdstport (\d+)\b/.exec(rule) ?? [];
    return port === undefined ? [] : [Number(port)];
  });
  const isOurs = rules.some(rule => rule.includes('--ctstate DNAT'));
  return {
    drops: rules.some(rule => /-j (DROP|REJECT|ufw-docker-logging-deny)\b/.test(rule)),
    openPorts: isOurs ? [...new Set(ports)].sort((a, b) => a - b) : undefined,
  };
}

/** A port that a container publishes to the outside. */
export interface PublishedPort {
  container: string;
  port: number;
}

export function publishedPorts(facts: SecurityFacts): PublishedPort[] | undefined {
  return facts.lines('docker-ports')?.flatMap(line => {
    const [container = '', ports = ''] = line.split('|');
    const numbers = [...ports.matchAll(/(?:0\.0\.0\.0|\[::\]|:::?):?(\d+)(?:-\d+)?->/g)].map(([, port]) =>
      Number(port),
    );
    return [...new Set(numbers)].map(port => ({ container, port }));
  });
}
