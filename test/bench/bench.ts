/**
 * npm run bench [-- rest|graphql|sse|start|analysis|ssh|deploy …] [--short] [--json FILE]
 * The built service against raw yardsticks, in one interleaved run. See the notes it prints for what each side does.
 */
import { parseArgs } from 'node:util';
import { analysisNotes, benchAnalysis } from './analysis.ts';
import { benchDeployments, deployNotes } from './deploy.ts';
import { benchReads, readNotes } from './reads.ts';
import { type Figure, printReport, writeReport } from './report.ts';
import { benchSsh, sshNotes } from './ssh.ts';
import { benchStarts, startNotes } from './starts.ts';
import { benchStreams, streamNotes } from './streams.ts';

const PARTS = ['rest', 'graphql', 'sse', 'start', 'analysis', 'ssh', 'deploy'];
const FULL = {
  reads: { sliceMs: 600, rounds: 9, warmUpMs: 8000 },
  messages: 12,
  starts: 7,
  analyses: 15,
  idleMs: 30_000,
  ssh: { rounds: 30, megabytes: 200, transfers: 5 },
  deployments: 5,
};
const SHORT = {
  reads: { sliceMs: 300, rounds: 3, warmUpMs: 2000 },
  messages: 4,
  starts: 3,
  analyses: 5,
  idleMs: 5000,
  ssh: { rounds: 10, megabytes: 50, transfers: 3 },
  deployments: 2,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false }, json: { type: 'string' } },
});
const unknown = positionals.filter(part => !PARTS.includes(part));
if (unknown.length > 0) {
  console.error(`Unknown part ${unknown.join(', ')}: choose among ${PARTS.join(', ')}.`);
  process.exit(1);
}
const parts = new Set(positionals.length > 0 ? positionals : PARTS);
const pace = values.short ? SHORT : FULL;

const figures: Figure[] = [];
const notes: string[] = [];
if (parts.has('rest') || parts.has('graphql')) show(await benchReads(parts, pace.reads), readNotes);
if (parts.has('sse')) show(await benchStreams(pace.messages), streamNotes);
if (parts.has('start')) show(await benchStarts(pace.starts, pace.idleMs), startNotes);
if (parts.has('analysis')) show(await benchAnalysis(pace.analyses), analysisNotes);
if (parts.has('ssh')) show(await benchSsh(pace.ssh), sshNotes);
if (parts.has('deploy')) show(await benchDeployments(pace.deployments), deployNotes);
if (values.json !== undefined) writeReport(values.json, figures, notes);

function show(found: Figure[], about: readonly string[]): void {
  figures.push(...found);
  notes.push(...about);
  printReport(found, about);
}
