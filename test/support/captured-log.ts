import { createLog, type Log } from '../../src/http/log.ts';

/** A log that is kept as text, and that a test can wait for. */
export class CapturedLog {
  readonly lines: string[] = [];
  readonly log: Log;
  readonly #waiting = new Set<() => void>();

  constructor() {
    const write = (line: string) => {
      this.lines.push(line);
      for (const look of this.#waiting) look();
    };
    this.log = createLog({ logLevel: 'trace', logFormat: 'json' }, { write });
  }

  async line(pattern: RegExp): Promise<string> {
    for (;;) {
      const line = this.lines.find(text => pattern.test(text));
      if (line !== undefined) return line;
      await new Promise<void>(resolve => this.#waiting.add(resolve));
    }
  }
}
