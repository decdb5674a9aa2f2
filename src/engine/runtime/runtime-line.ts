import type { LogStream } from '../../entities/deployment-message.ts';

/** A line of what a running application prints, or of what there is to say about it. */
export interface RuntimeLine {
  at: string;
  /** Null for what Slipway itself says. */
  stream: LogStream | null;
  message: string;
}

/** Docker gives each line the moment it was printed, to the nanosecond: finer than what we tell, and enough to know it again. */
export interface TimedLine extends RuntimeLine {
  time: string;
}
