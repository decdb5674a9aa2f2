import type { EntityManager } from '@mikro-orm/postgresql';
import type { Deployment, DeploymentPhase } from '../../entities/deployment.ts';
import type { LogStream } from '../../entities/deployment-message.ts';
import { logBell } from '../../events/deployment-story.ts';
import { RING_ROWS } from '../../events/row-bell.ts';
import { TakenOver } from './taken-over.ts';

export interface LogLine {
  at: Date;
  stream: LogStream | null;
  message: string;
}

/**
 * One statement, so that a worker that is frozen leaves no lock behind. Numbers are given under the lock of the deployment's row,
 * as those of its states are: whoever reads behind a number misses nothing.
 */
const APPEND = `
with numbered as (
  update deployment set log_seq = log_seq + ? where id = ? and fence = ? and not is_finished
  returning id, log_seq - ? as before, status, phase
), stored as (
  insert into deployment_message (deployment_id, seq, at, kind, status, phase, message, stream)
  select id, before + number, to_timestamp((line->>0)::float8 / 1000), 'LOG', status, phase, line->>2, line->>1
  from numbered, json_array_elements(?::json) with ordinality as lines (line, number)
  returning 1
)
select count(*)::int as stored, ${RING_ROWS} from stored`;

const STORED = `
select count(*)::int as lines, coalesce(sum(octet_length(message)), 0)::int as bytes
from deployment_message where deployment_id = ? and kind = 'LOG' and stream is not null and phase = coalesce(?, phase)
  and seq > coalesce((
    select max(seq) from deployment_message where deployment_id = ? and kind = 'LOG' and stream is null and message = ?
  ), 0)`;

/** The stored lines of one deployment, as long as it is ours. */
export class LogRows {
  constructor(
    private readonly em: EntityManager,
    private readonly deployment: Pick<Deployment, 'id' | 'fence'>,
  ) {}

  async append(lines: readonly LogLine[]): Promise<void> {
    const { id, fence } = this.deployment;
    const json = JSON.stringify(lines.map(({ at, stream, message }) => [at.getTime(), stream, message]));
    const values = [lines.length, id, fence, lines.length, json, logBell(id)];
    const [row] = await this.em.fork().execute<{ stored: number }[]>(APPEND, values);
    if (row?.stored !== lines.length) throw new TakenOver();
  }

  /** What programs printed, in one phase or in all; with a line of ours, behind that one. */
  async stored(phase: DeploymentPhase | null = null, behind = ''): Promise<{ lines: number; bytes: number }> {
    const values = [this.deployment.id, phase, this.deployment.id, behind];
    const [row] = await this.em.fork().execute<{ lines: number; bytes: number }[]>(STORED, values);
    return row ?? { lines: 0, bytes: 0 };
  }
}
