import { isObject } from '../../analysis/repository/plain-values.ts';
import { ComposeRefusal } from './compose-refusal.ts';
import { interpolate } from './interpolate.ts';
import type { Reading } from './reading.ts';

const LONGEST_NAME = 80;

/** A place in a compose file and what stands there. Variables are put in when it is read, so what nobody reads needs none. */
export class Spot {
  constructor(
    readonly reading: Reading,
    readonly value: unknown,
    readonly place: string,
  ) {}

  get isList(): boolean {
    return Array.isArray(this.value);
  }

  get isMap(): boolean {
    return isObject(this.value);
  }

  get isNull(): boolean {
    return this.value === null || this.value === undefined;
  }

  /** Says nothing: as good as left out. */
  get isEmpty(): boolean {
    if (Array.isArray(this.value)) return this.value.length === 0;
    return isObject(this.value)
      ? Object.keys(this.value).length === 0
      : this.isNull || this.value === false || this.value === '';
  }

  refuse(why: string, hint: string | null = null): never {
    throw new ComposeRefusal(this.place, why, hint);
  }

  warn(why: string): void {
    this.reading.warn(`${this.place} ${why}`);
  }

  text(): string {
    const { value } = this;
    if (typeof value === 'string') return this.#filled(value);
    if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean') return String(value);
    return this.refuse('must be a text');
  }

  /** Held against a pattern that is anchored on both sides. */
  textLike(pattern: RegExp, what: string): string {
    const text = this.text();
    return pattern.test(text) ? text : this.refuse(`must be ${what}`);
  }

  flag(): boolean {
    const text = this.text();
    return text === 'true' || (text === 'false' ? false : this.refuse('must be true or false'));
  }

  whole(least: number, most: number): number {
    const text = this.text();
    const number = /^\d{1,10}$/.test(text) ? Number(text) : -1;
    return number >= least && number <= most ? number : this.refuse(`must be a number from ${least} to ${most}`);
  }

  list(): Spot[] {
    if (!Array.isArray(this.value)) return this.refuse('must be a list');
    return this.value.map((each, at) => new Spot(this.reading, each, `${this.place}[${at}]`));
  }

  /** One, or a list of them. */
  texts(): string[] {
    return this.isList ? this.list().map(each => each.text()) : [this.text()];
  }

  /** Own keys alone, in the order of the file. */
  fields(): [key: string, spot: Spot][] {
    if (!isObject(this.value)) return this.refuse('must be a map');
    return Object.entries(this.value).map(([key, value]) => [key, new Spot(this.reading, value, this.#placeOf(key))]);
  }

  #placeOf(key: string): string {
    const printable = key.replace(/[^\x20-\x7e]/g, '?').slice(0, LONGEST_NAME);
    return this.place === '' ? printable : `${this.place}.${printable}`;
  }

  #filled(text: string): string {
    const filled = interpolate(text, {
      variables: this.reading.variables,
      onUnset: name => this.reading.warn(`The variable ${name} is not set; ${this.place} has nothing in its place`),
      onFilled: (name, characters) => this.reading.use(name, characters, this.place),
      fail: (why, hint) => this.refuse(why, hint),
    });
    this.reading.spend(filled.length, this.place);
    if (filled.includes('\0') || !filled.isWellFormed()) this.refuse('holds characters that no text can have');
    return filled;
  }
}
