import { DeployFailure } from '../deploy/deploy-failure.ts';
import { ComposeRefusal } from './compose-refusal.ts';

const MOST_WARNINGS = 40;
const MOST_NAMED = 8;
/** All that variables are put into, together: a short file can ask for a long value very often. */
const MOST_CHARACTERS = 1024 * 1024;

/** What is learnt while a compose file is read. Whoever wrote it is told of all its faults at once. */
export class Reading {
  readonly #warnings = new Set<string>();
  readonly #refusals: ComposeRefusal[] = [];
  readonly #used = new Set<string>();
  #charactersLeft = MOST_CHARACTERS;

  constructor(
    readonly file: string,
    readonly variables: Readonly<Record<string, string>>,
    /** The names of those that are secret. */
    readonly secrets: ReadonlySet<string>,
    /** A file of the repository, by its path from the root; null where there is none. */
    readonly open: (path: string) => string | null,
  ) {}

  get warnings(): string[] {
    return [...this.#warnings].slice(0, MOST_WARNINGS);
  }

  warn(sentence: string): void {
    this.#warnings.add(sentence);
  }

  /** A variable was put in at a place. */
  use(name: string, characters: number, place: string): void {
    this.#used.add(name);
    this.spend(characters, place);
  }

  /** The secret variables that something was read with. */
  secretsUsedBy<Value>(read: () => Value): [value: Value, secrets: string[]] {
    this.#used.clear();
    const value = read();
    return [value, [...this.#used].filter(name => this.secrets.has(name))];
  }

  spend(characters: number, place: string): void {
    this.#charactersLeft -= characters;
    if (this.#charactersLeft < 0) throw new ComposeRefusal(place, 'makes the file longer than a megabyte');
  }

  /** Goes on behind a refusal, to find the others. */
  attempt<Value, Fallback>(read: () => Value, fallback: Fallback): Value | Fallback {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ComposeRefusal)) throw error;
      this.#refusals.push(error);
      return fallback;
    }
  }

  /** Where anything was refused, nothing is had. */
  conclude(): void {
    const [first] = this.#refusals;
    if (first === undefined) return;
    const said = [...new Set(this.#refusals.map(({ message }) => message))];
    const more = said.length > MOST_NAMED ? `; and ${said.length - MOST_NAMED} more` : '';
    throw new DeployFailure(
      'COMPOSE_REFUSED',
      `${this.file} is refused: ${said.slice(0, MOST_NAMED).join('; ')}${more}`,
      first.hint ?? 'Change the file and deploy again; docs/guide/compose.md says what can be used.',
    );
  }
}
