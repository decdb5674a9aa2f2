import { Command } from './command.ts';

/** A firewall that is not there, or not on, has nothing to open. */
const OPEN = `
command -v ufw >/dev/null 2>&1 && ufw status | grep -q '^Status: active' || exit 0
ufw allow "$1/tcp" comment "$2" >/dev/null
`;

const SHUT = `
command -v ufw >/dev/null 2>&1 && ufw status | grep -q '^Status: active' || exit 0
ufw delete allow "$1/tcp" >/dev/null
`;

/** Lets the world in at a port, where a firewall would keep it out. */
export const openPort = (prefix: readonly string[], port: number, comment: string) =>
  Command.of(prefix, 'sh', '-c', OPEN, 'slipway', String(port), comment);

export const shutPort = (prefix: readonly string[], port: number) =>
  Command.of(prefix, 'sh', '-c', SHUT, 'slipway', String(port));
