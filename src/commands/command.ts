/** Words to say to a machine: words are data, operators are syntax. Quoting happens here and nowhere else. */
export class Command {
  private constructor(readonly parts: readonly Part[]) {}

  static of(...words: readonly Word[]): Command {
    const atoms = words.flat().filter(isPresent);
    for (const atom of atoms)
      if (atom.includes('\0')) throw new TypeError('a word of a command cannot hold a NUL byte');
    return new Command(atoms);
  }

  and(next: Command): Command {
    return this.#join('&&', next);
  }

  pipe(next: Command): Command {
    return this.#join('|', next);
  }

  /** The words themselves, for a machine that starts programs without a shell. */
  get words(): readonly string[] {
    const words = this.parts.filter(part => typeof part === 'string');
    if (words.length !== this.parts.length) throw new TypeError('a command with operators needs a shell');
    return words;
  }

  /** The first word, by which a failure names the command. */
  get program(): string {
    return this.parts.find(part => typeof part === 'string') ?? '';
  }

  /** What a remote shell will read. Holds no secrets: those travel by standard input or by file. */
  toString(): string {
    return this.parts.map(part => (typeof part === 'string' ? quote(part) : part.symbol)).join(' ');
  }

  #join(symbol: string, next: Command): Command {
    return new Command([...this.parts, { symbol }, ...next.parts]);
  }
}

export interface Operator {
  readonly symbol: string;
}

export type Part = string | Operator;
type Atom = string | false | null | undefined;
export type Word = Atom | readonly Atom[];

const isPresent = (word: Atom): word is string => typeof word === 'string';

/** One word of POSIX shell, whatever it holds. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll(`'`, `'\\''`)}'`;
}
