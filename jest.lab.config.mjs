import base from './jest.config.mjs';

/** The lab's tests: real servers and images, one after the other, each with time to build. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/lab/**/*.lab.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
  testTimeout: 300_000,
};
