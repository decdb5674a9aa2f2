/** The one place that tells the time; tests move it. */
export const clock = {
  now: (): Date => new Date(),
};

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const fromNow = (milliseconds: number): Date => new Date(clock.now().getTime() + milliseconds);
