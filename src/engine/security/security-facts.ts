/** What one command said, and how it ended. */
interface Fact {
  exitCode: number;
  lines: string[];
}

/** What a server said about itself in one look, by the names of the facts. */
export class SecurityFacts {
  private constructor(private readonly facts: ReadonlyMap<string, Fact>) {}

  static parse(output: string): SecurityFacts {
    const facts = new Map<string, Fact>();
    let current: Fact | undefined;
    for (const line of output.split('\n')) {
      const [, name, exitCode] = /^@([a-z0-9-]+) (\d+)$/.exec(line) ?? [];
      if (name === undefined) {
        if (line.trim() !== '') current?.lines.push(line.trim());
        continue;
      }
      current = { exitCode: Number(exitCode), lines: [] };
      facts.set(name, current);
    }
    return new SecurityFacts(facts);
  }

  /** What was said, where the command succeeded; undefined means that it is not known. */
  said(name: string): string | undefined {
    return this.lines(name)?.join('\n');
  }

  lines(name: string): string[] | undefined {
    const fact = this.facts.get(name);
    return fact?.exitCode === 0 ? fact.lines : undefined;
  }

  /** For questions that are answered by the exit code alone. */
  isTrue(name: string): boolean {
    return this.facts.get(name)?.exitCode === 0;
  }

  /** The program is not installed: `timeout` and the shell say so by this code. */
  isMissing(name: string): boolean {
    return this.facts.get(name)?.exitCode === 127;
  }

  complaint(name: string): string {
    return this.facts.get(name)?.lines.join('\n') ?? '';
  }

  /** Lines of `key value`, such as sshd's own account of its settings. The first of a key counts. */
  setting(name: string, key: string): string | undefined {
    const line = this.lines(name)?.find(each => each.toLowerCase().startsWith(`${key.toLowerCase()} `));
    return line?.slice(key.length + 1).trim();
  }

  settings(name: string, key: string): string[] {
    return (this.lines(name) ?? [])
      .filter(each => each.toLowerCase().startsWith(`${key.toLowerCase()} `))
      .map(each => each.slice(key.length + 1).trim());
  }

  isInstalled(packageName: string): boolean {
    return this.lines('packages')?.includes(`${packageName} installed`) ?? false;
  }
}
