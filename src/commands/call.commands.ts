import { Command } from './command.ts';

/** Marks every process of a call, so that all of them can be found again, whatever groups and sessions they made for themselves. */
const MARK = 'SLIPWAY_CALL';

/** A command as a far machine is told it: marked, and ended there by itself if nobody is left to end it. */
export const boundedCall = (call: string, command: Command, seconds: number) =>
  Command.of('env', `${MARK}=${call}`, 'timeout', '-k', '5', String(seconds), 'sh', '-c', command.toString());

/** Asks the processes of calls to end, then ends them. It has done so when it returns with 0. */
export const endCalls = (calls: readonly string[]) => Command.of('sh', '-c', END_CALLS, 'slipway', ...calls);

/** A process may start another while it is looked for: it is looked until none is found. */
const END_CALLS = `
marked() {
  for call; do grep -ls "${MARK}=$call" /proc/[0-9]*/environ; done | sed 's|/proc/\\([0-9]*\\)/.*|\\1|'
}
tries=0
while found=$(marked "$@"); [ -n "$found" ]; do
  tries=$((tries + 1))
  [ "$tries" -le 40 ] || exit 1
  case $tries in 1) signal=TERM ;; 2 | 3 | 4) signal=0 ;; *) signal=KILL ;; esac
  kill -s "$signal" $found 2>/dev/null
  sleep 0.1
done
`;
