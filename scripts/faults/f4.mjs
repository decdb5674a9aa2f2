/**
 * F4 in full: the line to a server is cut, falls silent, or its sshd is killed, in the middle of work; once whoever followed comes
 * back, and once nobody does. Against this machine's own sshd. Prints what was seen; exits with 1 when a promise was broken.
 *
 *   npm run faults:f4 [-- TIMES]
 */
import { abandonAfter, FAULTS, reattachAfter } from '../../test/support/lost-work.ts';
import { SshServer } from '../../test/support/ssh-server.ts';

const times = Number(process.argv[2] ?? 3);
const server = await SshServer.start();
const reattached = [];
const abandoned = [];
for (let time = 0; time < times; time += 1) {
  for (const fault of Object.keys(FAULTS)) {
    reattached.push(await reattachAfter(server, fault, 250));
    abandoned.push(await abandonAfter(server, fault));
  }
}
await server.stop();
console.log('Somebody comes back: noticed in 15 s, no line missing or repeated, run once');
console.table(reattached);
console.log('Nobody comes back: nothing left after 60 s');
console.table(abandoned);
const isKept =
  reattached.every(
    ({ noticedMs, missing, repeated, runs }) => noticedMs <= 15_000 && missing + repeated === 0 && runs === 1,
  ) && abandoned.every(({ goneMs, left }) => goneMs <= 60_000 && left === 0);
if (!isKept) console.error('FAILED: see the figures');
process.exitCode = isKept ? 0 : 1;
