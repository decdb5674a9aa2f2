import { GitFailure } from './git-failure.ts';

const LONGEST_NAME = 255;
const LONGEST_TEXT = 2000;

/** Somebody else's JSON, read field by field. What is not as they document it is a failure of theirs, not a crash of ours. */
export class Answer {
  constructor(
    private readonly vendor: string,
    private readonly value: unknown,
  ) {}

  at(name: string): Answer {
    if (typeof this.value !== 'object' || this.value === null || Array.isArray(this.value)) return this.#complain();
    return new Answer(this.vendor, (this.value as Readonly<Record<string, unknown>>)[name]);
  }

  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  list(): Answer[] {
    if (!Array.isArray(this.value)) return this.#complain();
    return this.value.map(item => new Answer(this.vendor, item));
  }

  /** What something is called: one line, never empty. */
  name(): string {
    const isName = typeof this.value === 'string' && /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u.test(this.value);
    return isName && this.value.length <= LONGEST_NAME ? this.value : this.#complain();
  }

  /** Numbers and strings alike. */
  id(): string {
    return typeof this.value === 'number' ? String(this.value) : this.name();
  }

  /** What people wrote; empty is as good as absent. */
  text(): string | null {
    if (typeof this.value !== 'string') return null;
    const text = this.value.replaceAll('\0', '').slice(0, LONGEST_TEXT);
    return text === '' ? null : text;
  }

  names(): string[] {
    return this.isAbsent ? [] : this.list().map(item => item.name());
  }

  /** Texts by their names, such as headers; whatever else is among them is left out. */
  texts(): Record<string, string> {
    if (typeof this.value !== 'object' || this.value === null) return {};
    return Object.fromEntries(Object.entries(this.value).filter(([, text]) => typeof text === 'string'));
  }

  isTrue(): boolean {
    return this.value === true;
  }

  webAddress(): string | null {
    const text = this.text();
    return text !== null && /^https?:\/\//.test(text) && URL.canParse(text) ? text : null;
  }

  moment(): Date | null {
    const at = typeof this.value === 'string' ? new Date(this.value) : undefined;
    return at === undefined || Number.isNaN(at.getTime()) ? null : at;
  }

  timestamp(): string | null {
    return this.moment()?.toISOString() ?? null;
  }

  #complain(): never {
    throw new GitFailure('UNREACHABLE', `${this.vendor} answered in a form we do not know; check its address`);
  }
}
