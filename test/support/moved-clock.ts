import { clock } from '../../src/clock.ts';

/** Runs `work` as if it were so much later. */
export async function later<Result>(milliseconds: number, work: () => Promise<Result>): Promise<Result> {
  const real = clock.now;
  clock.now = () => new Date(Date.now() + milliseconds);
  try {
    return await work();
  } finally {
    clock.now = real;
  }
}
