/** Adds up what jest wrote with --json and prints it as one line that anybody can read. */
import { readFileSync } from 'node:fs';

const results = process.argv.slice(2).map(file => JSON.parse(readFileSync(file, 'utf8')));
const sum = name => results.reduce((total, result) => total + result[name], 0);
console.log(`${sum('numPassedTests')} passed, ${sum('numFailedTests')} failed, ${sum('numPendingTests')} skipped`);
