import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SecurityRecord } from './security-record.ts';
import { SshMachine } from './ssh-machine.ts';

/**
 * A machine that answers what a server of the lab once said, and writes down what it is told to do as root instead of doing
 * it. Once its firewall was switched on it answers as that server did after hardening.
 */
export class PretendedServer {
  private constructor(readonly machine: SshMachine) {}

  static async start(): Promise<PretendedServer> {
    const server = new PretendedServer(await SshMachine.start());
    server.answerAs('debian-12-fresh');
    server.#keep('debian-12-hardened', 'after');
    const { folder } = server.machine;
    server.machine.program('id', 'echo 1000');
    server.machine.program(
      'sudo',
      `case "$*" in
        '-n true') ;;
        *'docker version'*) echo 20.10.24;;
        '-n sh -s') cat > /dev/null; cat ${folder}/facts;;
        *'echo absent'*) echo absent;;
        *) cat > /dev/null; printf '%s\\n' "$*" >> ${folder}/said
           case "$*" in *'--force enable'*) cp ${folder}/after ${folder}/facts;; esac;;
      esac`,
    );
    return server;
  }

  get place(): { host: string; port: number; username: string } {
    return { host: '127.0.0.1', port: this.machine.port, username: 'deploy' };
  }

  /** What it was told to do as root. */
  get said(): string {
    const file = join(this.machine.folder, 'said');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  answerAs(name: SecurityRecord): void {
    this.#keep(name, 'facts');
  }

  /** Another answer to one of the questions. */
  answer(fact: string, text: string): void {
    const file = join(this.machine.folder, 'facts');
    writeFileSync(file, `${readFileSync(file, 'utf8')}@${fact} 0\n${text.replace(/^/gm, ' ')}\n`);
  }

  stop(): Promise<void> {
    return this.machine.stop();
  }

  #keep(name: SecurityRecord, file: string): void {
    const record = fileURLToPath(new URL(`../fixtures/security/${name}.txt`, import.meta.url));
    copyFileSync(record, join(this.machine.folder, file));
  }
}
