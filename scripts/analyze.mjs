// npm run -s analyze -- [--json] DIR…   what the analysis makes of folders on this machine
import { parseArgs } from 'node:util';
import { analyzeFolders } from '../src/analysis/analyze-folders.ts';

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false } },
  allowPositionals: true,
});

if (positionals.length === 0) {
  console.error('usage: npm run -s analyze -- [--json] DIR…');
  process.exit(2);
}

for await (const analysis of analyzeFolders(positionals)) {
  console.log(values.json ? JSON.stringify(analysis) : summaryOf(analysis));
  // With --json the line itself tells of the failure, and the folders after it still count.
  if (analysis.error && !values.json) process.exitCode = 1;
}

function summaryOf({ dir, result, error }) {
  if (error) return `${dir}\n  ${error.code}: ${error.message}\n  ${error.hint}\n`;
  const findings = result.findings.map(
    ({ field, value, file, reason }) => `  ${field}: ${value}  (${file ?? 'by convention'}: ${reason})`,
  );
  const services = result.services.map(({ kind, file, reason }) => `  service: ${kind}  (${file}: ${reason})`);
  const apps = result.apps.map(
    ({ directory, language, framework }) => `  app: ${directory}  (${framework ?? language})`,
  );
  const warnings = result.warnings.map(({ message }) => `  warning: ${message}`);
  return [dir, `  builder: ${result.builder}`, ...findings, ...services, ...apps, ...warnings, ''].join('\n');
}
