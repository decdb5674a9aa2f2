/**
 * F19 in full: 50,000 malformed inputs over three doors, from a new seed each time. What fails is shown in its smallest
 * form; exits with 1 when a promise was broken.
 *
 *   npm run faults:f19 [-- COUNT]
 */
import { spawnSync } from 'node:child_process';

const count = process.argv[2] ?? '50000';
const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', 'test/doors/fuzz.test.ts'];
const { status } = spawnSync(process.execPath, jest, { stdio: 'inherit', env: { ...process.env, FUZZ: count } });
process.exit(status ?? 1);
