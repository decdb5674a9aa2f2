import { setTimeout as pause } from 'node:timers/promises';
import type { CaddyAdmin } from '../../integrations/caddy/caddy-admin.ts';
import { CADDY_ADMIN_PORT } from '../../integrations/caddy/caddy-admin.ts';
import { CaddyFault } from '../../integrations/caddy/caddy-fault.ts';
import type { ContainerSpec } from '../../integrations/docker/container-spec.ts';
import type { DockerApi } from '../../integrations/docker/docker-api.ts';
import { DockerFault } from '../../integrations/docker/docker-fault.ts';
import { DialFailure } from '../../remote/host.ts';
import { saidText } from '../../remote/said-text.ts';
import { ProxyFailure } from './proxy-failure.ts';
import { CLOSING, UPSTREAMS } from './proxy-settings.ts';

const NAME = 'slipway-proxy';
const IMAGE = 'caddy:2';
const LABELS = { 'slipway.role': 'proxy' };
const VOLUMES = [
  { name: 'slipway-proxy-config', path: '/config' },
  { name: 'slipway-proxy-data', path: '/data' },
];
const IN_FOLDER = `mkdir -p ${UPSTREAMS} && cd ${UPSTREAMS} || exit; `;
const POINT_AT = `
mkdir -p "$1" && : >"$1/$2" && sleep 0.1 || exit
for other in "$1"/*; do [ "$other" = "$1/$2" ] || rm "$other" || exit; done
`;
const START_MS = 30_000;
const LOOK_EVERY_MS = 100;
const LONGEST_MESSAGE = 500;

/**
 * It is told everything by its admin endpoint and keeps that in a volume, from where it goes on when it is started again. There is no
 * file of settings, so that it takes no port by itself.
 */
const SPEC: ContainerSpec = {
  name: NAME,
  image: IMAGE,
  entrypoint: ['caddy'],
  command: ['run', '--resume'],
  env: { XDG_CONFIG_HOME: '/config', XDG_DATA_HOME: '/data', CADDY_ADMIN: `127.0.0.1:${CADDY_ADMIN_PORT}` },
  labels: LABELS,
  isHostNetwork: true,
  restart: 'unless-stopped',
  volumes: VOLUMES,
  // Where no Caddyfile lies that it would read.
  workingDirectory: '/config',
};

/** The container that Caddy runs in. */
export class ProxyContainer {
  constructor(
    private readonly docker: DockerApi,
    private readonly admin: CaddyAdmin,
  ) {}

  async exists(): Promise<boolean> {
    return (await this.docker.inspectContainer(NAME)) !== null;
  }

  async ensure(): Promise<void> {
    const hint = `The server must be able to pull ${IMAGE}, or have it already.`;
    await told('The proxy could not be started', hint, async () => {
      const there = await this.docker.inspectContainer(NAME);
      if (there?.isRunning) return;
      await this.#findPortFree();
      if (there === null) await this.#make();
      await this.docker.startContainer(NAME);
    });
    await this.#answers();
  }

  /** From now on this port answers for the environment. The new one is there before the old one is gone. */
  async pointAt(environmentId: string, port: number): Promise<void> {
    await this.#execute(POINT_AT, environmentId, String(port));
  }

  async upstreamOf(environmentId: string): Promise<number | null> {
    const said = await this.#execute('ls "$1" 2>/dev/null; :', environmentId);
    const [, port] = /^(\d+)\n?$/.exec(said) ?? [];
    return port === undefined ? null : Number(port);
  }

  async forget(environmentId: string): Promise<void> {
    await this.#execute('rm -rf "$1"', environmentId);
  }

  async askToLeave(isAsked: boolean): Promise<void> {
    await this.#execute(isAsked ? ': >"$1"' : 'rm -f "$1"', CLOSING);
  }

  async #execute(script: string, ...words: readonly string[]): Promise<string> {
    const said = ['sh', '-c', IN_FOLDER + script, 'slipway', ...words];
    const { exitCode, output } = await told('The proxy could not be told', null, () => this.docker.execute(NAME, said));
    if (exitCode !== 0) throw new ProxyFailure(`The proxy could not be told: ${plain(output)}`);
    return output;
  }

  async #make(): Promise<void> {
    if (!(await this.docker.hasImage(IMAGE))) await this.docker.pullImage(IMAGE);
    for (const { name } of VOLUMES) await this.docker.ensureVolume(name, LABELS);
    await this.docker.createContainer(SPEC);
  }

  /** Caddy shares its port with others of its kind: two would be told things in turns. One of ours may have been started by now. */
  async #findPortFree(): Promise<void> {
    if (!(await this.#hears())) return;
    if (!(await this.docker.inspectContainer(NAME))?.isRunning) throw anotherCaddy();
  }

  /** Somebody else may answer where it should: then it is not asked, and ends again and again. */
  async #answers(): Promise<void> {
    const deadline = performance.now() + START_MS;
    for (;;) {
      const state = await this.docker.inspectContainer(NAME);
      if (state?.isRunning && (await this.#hears())) return;
      if (performance.now() > deadline) throw new ProxyFailure(`The proxy does not answer: ${await this.#lastWords()}`);
      await pause(LOOK_EVERY_MS);
    }
  }

  async #hears(): Promise<boolean> {
    try {
      await this.admin.get('/config/');
      return true;
    } catch (error) {
      if (error instanceof DialFailure && error.reason === 'FORBIDDEN')
        throw new ProxyFailure(error.message, 'The proxy is spoken to through SSH.', false, { cause: error });
      if (error instanceof DialFailure) return false;
      if (error instanceof CaddyFault) return true;
      throw error;
    }
  }

  async #lastWords(): Promise<string> {
    let said = '';
    const onOutput = (chunk: Buffer) => {
      said += chunk.toString();
    };
    await this.docker.containerLogs(NAME, { tail: 3, onOutput });
    return plain(said);
  }
}

export const anotherCaddy = (): ProxyFailure =>
  new ProxyFailure(
    `Another Caddy answers on port ${CADDY_ADMIN_PORT} of the server`,
    'Stop it, or give its admin endpoint another port.',
  );

async function told<Result>(fault: string, hint: string | null, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DockerFault)) throw error;
    throw new ProxyFailure(`${fault}: ${plain(error.message)}`, hint, false, { cause: error });
  }
}

const plain = (said: string): string => saidText(said, LONGEST_MESSAGE);
