import { existsSync } from 'node:fs';

/** Debian's own, which fits the engine that the lab starts. A newer client that is found first cannot build without plugins. */
export const DOCKER = existsSync('/usr/bin/docker') ? '/usr/bin/docker' : 'docker';
