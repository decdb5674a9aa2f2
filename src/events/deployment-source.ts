import type { Row, Rows } from '../database/rows.ts';
import { DeploymentMessage } from '../entities/deployment-message.ts';
import { Invalid } from '../errors.ts';
import { logBell, storyBell } from './deployment-story.ts';
import type { RowBell } from './row-bell.ts';
import { CursorTooOld, type StreamItem, type StreamSource } from './stored-stream.ts';

/** The story of one deployment: its states and, unless they are not wanted, the lines of its log. */
export class DeploymentSource implements StreamSource {
  readonly key: string;

  constructor(
    private readonly rows: Rows,
    private readonly bell: RowBell,
    private readonly deploymentId: string,
    private readonly filter: { logs: boolean },
  ) {
    this.key = `deployment:${deploymentId} ${filter.logs}`;
  }

  async locate(cursor: string | undefined): Promise<number> {
    if (cursor === undefined) return 0;
    if (!/^\d{1,9}$/.test(cursor)) throw new Invalid({ field: 'after', message: 'must be the number of a message' });
    return locateMessage(this.rows, this.deploymentId, Number(cursor), this.filter.logs);
  }

  async read(position: number, limit: number): Promise<StreamItem[]> {
    const states = this.filter.logs ? '' : ` and kind = 'STATUS'`;
    const text = `${this.rows.select(DeploymentMessage)} where deployment_id = $1 and seq > $2${states} order by seq limit $3`;
    const messages = await this.rows.query<Row<DeploymentMessage>>(text, [this.deploymentId, position, limit]);
    return messages.map(toItem);
  }

  /** Nothing comes after the end, which is a state, and nothing of a deployment that is gone. */
  async isOver(position: number): Promise<boolean> {
    const story = await storyOf(this.rows, this.deploymentId);
    return story === undefined || (story.isFinished && story.last <= position);
  }

  watch(ring: () => void): () => void {
    const unwatch = [this.bell.watch(storyBell(this.deploymentId), ring)];
    if (this.filter.logs) unwatch.push(this.bell.watch(logBell(this.deploymentId), ring));
    return () => {
      for (const each of unwatch) each();
    };
  }
}

/**
 * The place of a message whose number somebody knows. Numbers have no gaps but where lines were pruned: whoever resumes before
 * such a gap would miss them without knowing. States are never pruned.
 */
export async function locateMessage(rows: Rows, deploymentId: string, seq: number, withLogs: boolean): Promise<number> {
  const story = await storyOf(rows, deploymentId);
  if (seq > (story?.last ?? 0)) throw new Invalid({ field: 'after', message: 'is not a message of this deployment' });
  if (!withLogs || seq === 0 || seq === story?.last) return seq;
  const next = 'select 1 as found from deployment_message where deployment_id = $1 and seq = $2';
  if ((await rows.query(next, [deploymentId, seq + 1])).length === 0)
    throw new CursorTooOld('Lines since that cursor are no longer kept; begin without one to read what is');
  return seq;
}

interface Story {
  last: number;
  isFinished: boolean;
}

async function storyOf(rows: Rows, deploymentId: string): Promise<Story | undefined> {
  const text = 'select log_seq as last, is_finished as "isFinished" from deployment where id = $1';
  const [story] = await rows.query<Story>(text, [deploymentId]);
  return story;
}

const toItem = (message: Row<DeploymentMessage>): StreamItem => ({
  position: message.seq,
  cursor: String(message.seq),
  isLast: message.isFinished,
  value: message,
});
