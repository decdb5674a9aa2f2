import base from './jest.config.mjs';

/** What has a shorter proof among the others, or is only about one part: with `SLIPWAY_LAB=full`. */
const FULL = [
  ...['compose', 'compose-data', 'compose-killed', 'docker', 'environments'],
  ...['image-build', 'proxy', 'runtime-logs', 'two-instances'],
];

const isFull = process.env.SLIPWAY_LAB === 'full';

/** The lab's tests: real servers and images, one after the other, each with time to build. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/lab/**/*.lab.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(isFull ? [] : FULL.map(name => `/test/lab/${name}\\.lab`))],
  maxWorkers: 1,
  // A machine that gets half of its processors is slow, not wrong.
  testTimeout: 600_000,
};
