import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import ssh2 from 'ssh2';
import { SshHost, type SshTarget } from '../../../src/remote/ssh-host.ts';
import { eventually } from '../../support/eventually.ts';
import { DOCKER } from './docker-program.ts';

const execute = promisify(execFile);

export interface LabServerWish {
  /** The release of Debian it runs. */
  release?: 'bookworm' | 'trixie';
  /** With a Docker of its own, which takes some seconds to start. */
  hasDocker?: boolean;
  /** Without even the packages of Docker. */
  isBare?: boolean;
  /** How large the disk is that its Docker has for itself. */
  dockerDiskMb?: number;
}

/**
 * A server of the lab: a container that looks like a fresh machine, with an address of its own. Key and password are made for
 * it and let in `deploy`, who has sudo, and `root`.
 */
export class LabServer {
  private constructor(
    readonly id: string,
    readonly address: string,
    readonly privateKey: string,
  ) {}

  static async start({
    release = 'bookworm',
    hasDocker = false,
    isBare = false,
    dockerDiskMb,
  }: LabServerWish = {}): Promise<LabServer> {
    const pair = ssh2.utils.generateKeyPairSync('ed25519');
    const image = isBare ? 'slipway-lab/bare:bookworm' : imageOf(release);
    const disk = dockerDiskMb === undefined ? [] : ['--tmpfs', `/var/lib/docker:size=${dockerDiskMb}m,exec`];
    const id = await docker('run', ...RUN_WORDS, ...disk, '--env', `WITH_DOCKER=${hasDocker ? 'yes' : 'no'}`, image);
    try {
      const address = await docker('inspect', '--format', '{{.NetworkSettings.IPAddress}}', id);
      const server = new LabServer(id, address, pair.private);
      await server.#letIn(pair.public);
      await eventually(() => server.#answers());
      if (hasDocker) await eventually(() => server.exec('docker', 'info').catch(() => false as const));
      return server;
    } catch (error) {
      await docker('rm', '--force', '--volumes', id);
      throw error;
    }
  }

  static isBuilt(release: 'bookworm' | 'trixie'): boolean {
    return execFileSync(DOCKER, ['images', '--quiet', imageOf(release)]).length > 0;
  }

  target(username = 'deploy'): SshTarget {
    return { address: this.address, port: 22, username, privateKey: this.privateKey, trusts: () => true };
  }

  connect(username = 'deploy'): Promise<SshHost> {
    return SshHost.connect(this.target(username));
  }

  /** Says it on the server behind sshd's back, as root. */
  exec(...words: string[]): Promise<string> {
    return docker('exec', this.id, ...words);
  }

  /** A script by the same way. */
  shell(script: string): Promise<string> {
    return this.exec('sh', '-c', script);
  }

  /** Gives its Docker images that cannot be pulled here. */
  async load(...images: string[]): Promise<void> {
    const script = `"$0" save "$@" | "$0" exec -i ${this.id} docker load`;
    await execute('sh', ['-c', script, DOCKER, ...images], { maxBuffer: 64 * 1024 * 1024 });
  }

  /** Cuts every connection over SSH; new ones are let in. */
  async cutConnections(): Promise<void> {
    await this.shell(`pkill -KILL -f '^sshd(-session)?: deploy' || true`);
  }

  /** Lets nothing through to sshd and back for so long, as if the line had gone silent; then all of it again. */
  async fallSilent(seconds: number): Promise<void> {
    const rules = (flag: string) =>
      `iptables ${flag} INPUT -p tcp --dport 22 -j DROP; iptables ${flag} OUTPUT -p tcp --sport 22 -j DROP`;
    await this.shell(`${rules('-I')}; sleep ${seconds}; ${rules('-D')}`);
  }

  /** Switched off; `switchOn` brings it back at the same address. */
  async switchOff(): Promise<void> {
    await docker('stop', '--time', '0', this.id);
  }

  async switchOn(): Promise<void> {
    await docker('start', this.id);
    const address = await docker('inspect', '--format', '{{.NetworkSettings.IPAddress}}', this.id);
    if (address !== this.address) throw new Error(`It came back at ${address} instead of ${this.address}`);
    await eventually(() => this.#answers());
  }

  async stop(): Promise<void> {
    await docker('rm', '--force', '--volumes', this.id);
  }

  async #answers(): Promise<boolean> {
    return this.connect().then(
      host => {
        host.close();
        return true;
      },
      () => false,
    );
  }

  async #letIn(publicKey: string): Promise<void> {
    await this.exec('sh', '-c', 'echo "$0" > /home/deploy/.ssh/authorized_keys', publicKey);
    await this.exec('cp', '/home/deploy/.ssh/authorized_keys', '/root/.ssh/authorized_keys');
    await this.exec('chown', 'deploy:deploy', '/home/deploy/.ssh/authorized_keys');
  }
}

/** What a Docker inside a Docker needs, where a privileged container is refused. */
const RUN_WORDS = [
  ...['--detach', '--cap-add', 'SYS_ADMIN', '--cap-add', 'NET_ADMIN'],
  ...['--security-opt', 'seccomp=unconfined', '--security-opt', 'apparmor=unconfined'],
  ...['--volume', '/sys/fs/cgroup:/sys/fs/cgroup', '--tmpfs', '/run'],
];

const imageOf = (release: string) => `slipway-lab/server:${release}`;

async function docker(...words: string[]): Promise<string> {
  const { stdout } = await execute(DOCKER, words, { maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}
