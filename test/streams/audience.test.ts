import { expect, test } from '@jest/globals';
import type { StreamItem, StreamSource } from '../../src/events/stored-stream.ts';
import { Audience, type Reader } from '../../src/schema/audience.ts';

/** Rows in memory, and a read that answers when the test says so. */
class Rows implements StreamSource {
  readonly key = 'rows';
  readonly reads: number[] = [];
  readonly rows: StreamItem[] = [];
  readonly #bells = new Set<() => void>();
  gate: Promise<void> | undefined;
  isHeld = (_position: number) => false;

  constructor(private readonly passes = (_position: number) => true) {}

  get watchers(): number {
    return this.#bells.size;
  }

  locate(): Promise<number> {
    return Promise.resolve(0);
  }

  settled(): number {
    return this.rows.length;
  }

  async read(position: number, limit: number): Promise<StreamItem[]> {
    this.reads.push(position);
    const found = this.rows.filter(row => row.position > position && this.passes(row.position)).slice(0, limit);
    if (this.isHeld(position)) await this.gate;
    return found;
  }

  watch(ring: () => void): () => void {
    this.#bells.add(ring);
    return () => this.#bells.delete(ring);
  }

  add(count = 1): void {
    for (let index = 0; index < count; index += 1) {
      const position = this.rows.length + 1;
      this.rows.push({ position, cursor: `${position}`, isLast: false, value: {} });
    }
    for (const ring of this.#bells) ring();
  }
}

class Listener implements Reader {
  readonly heard: number[] = [];
  isGone = false;

  write(frame: Buffer): void {
    this.heard.push(Number(frame.toString()));
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  end(): void {
    this.isGone = true;
  }
}

const turn = () => new Promise<void>(resolve => setImmediate(resolve));
const turns = async (count: number) => {
  for (let index = 0; index < count; index += 1) await turn();
};

const gather = (rows: Rows, render = async ({ position }: StreamItem) => Buffer.from(`${position}`)) =>
  new Audience(rows, render, undefined, () => undefined);

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('a newcomer that read before a row came, and sits down while that row is told to hundreds, is told it too', async () => {
  const rows = new Rows();
  const audience = gather(rows);
  const crowd = Array.from({ length: 1200 }, () => new Listener());
  for (const listener of crowd) audience.join(listener, 0);
  await turns(5);
  rows.add();
  await turns(8);
  const gate = Promise.withResolvers<void>();
  rows.gate = gate.promise;
  let isFirst = true;
  rows.isHeld = () => {
    const isHeld = isFirst;
    isFirst = false;
    return isHeld;
  };
  const newcomer = new Listener();
  audience.join(newcomer, 1);
  rows.add();
  await turn();
  gate.resolve();
  await turns(10);
  rows.add();
  await turns(10);
  expect(newcomer.heard).toEqual([2, 3]);
  for (const listener of crowd) expect(listener.heard).toEqual([1, 2, 3]);
});

test('a bell rung in the very moment a reading ends is heard', async () => {
  for (let delay = 0; delay < 12; delay += 1) {
    const rows = new Rows();
    const audience = gather(rows);
    const listener = new Listener();
    audience.join(listener, 0);
    for (let tick = 0; tick < delay; tick += 1) await Promise.resolve();
    rows.add();
    for (let tick = 0; tick < delay; tick += 1) await Promise.resolve();
    rows.add();
    await turns(3);
    expect(listener.heard).toEqual([1, 2]);
  }
});

test('a cursor beyond the end spins no loop and costs the others nothing', async () => {
  const rows = new Rows();
  const audience = gather(rows);
  const ahead = new Listener();
  audience.join(ahead, 999);
  await turns(3);
  const other = new Listener();
  audience.join(other, 0);
  await turns(5);
  const readsAtRest = rows.reads.length;
  await turns(20);
  expect(rows.reads.length).toBe(readsAtRest);
  rows.add(3);
  await turns(5);
  expect(other.heard).toEqual([1, 2, 3]);
  expect(ahead.heard).toEqual([]);
});

test('rows a filter passes over are passed over once, not again with every bell', async () => {
  const rows = new Rows(position => position === 1);
  const audience = gather(rows);
  const listener = new Listener();
  audience.join(listener, 0);
  await turns(3);
  for (let round = 0; round < 30; round += 1) {
    rows.add(10);
    await turns(2);
  }
  expect(listener.heard).toEqual([1]);
  expect(rows.reads.at(-1)).toBeGreaterThan(280);
});

test('whoever comes at any moment hears each row once and in order', async () => {
  const rows = new Rows();
  const audience = gather(rows);
  const listeners: { listener: Listener; from: number }[] = [];
  for (let round = 0; round < 60; round += 1) {
    if (round % 3 === 0) {
      const from = Math.max(0, rows.rows.length - (round % 7) * 40);
      const listener = new Listener();
      listeners.push({ listener, from });
      audience.join(listener, from);
    }
    rows.add(1 + (round % 5) * 20);
    for (let tick = 0; tick < round % 9; tick += 1) await Promise.resolve();
    if (round % 4 === 0) await turn();
  }
  await turns(200);
  for (const { listener, from } of listeners) expect(listener.heard).toEqual(numbers(from + 1, rows.rows.length));
});

test('a row that many catch up with at once is rendered once', async () => {
  const rows = new Rows();
  rows.add(40);
  let rendered = 0;
  const audience = gather(rows, async ({ position }) => {
    rendered += 1;
    await turn();
    return Buffer.from(`${position}`);
  });
  const listeners = Array.from({ length: 50 }, () => new Listener());
  for (const listener of listeners) audience.join(listener, 0);
  await turns(100);
  for (const { heard } of listeners) expect(heard).toEqual(numbers(1, 40));
  expect(rendered).toBe(40);
});

test('an audience nobody is left of watches nothing any more, wherever its members stood', async () => {
  const rows = new Rows();
  rows.add(3);
  const dissolved: string[] = [];
  const render = async ({ position }: StreamItem) => Buffer.from(`${position}`);
  const audience = new Audience(rows, render, undefined, () => dissolved.push('once'));
  const leaveLive = audience.join(new Listener(), 3);
  await turns(3);
  const leaveSoon = audience.join(new Listener(), 0);
  leaveLive();
  leaveSoon();
  leaveSoon();
  await turns(3);
  expect([audience.size, rows.watchers, dissolved]).toEqual([0, 0, ['once']]);
});
