import type { Row, Rows } from '../database/rows.ts';
import { Deployment } from '../entities/deployment.ts';
import { DeploymentMessage } from '../entities/deployment-message.ts';
import { NotFound } from '../errors.ts';
import { DeploymentSource, locateMessage } from '../events/deployment-source.ts';
import type { RowBell } from '../events/row-bell.ts';
import { StoredStream } from '../events/stored-stream.ts';
import type { Scope } from './scope.ts';

/** A deployment as it is asked for: by its environment and its id. */
export interface DeploymentKey {
  environmentId: string;
  id: string;
}

export interface StoryWish extends DeploymentKey {
  logs: boolean;
  after?: string | null;
}

export interface LogPage {
  after?: number | null;
  limit: number;
}

/** What deployments told while they ran. */
export class DeploymentLogService {
  constructor(
    private readonly rows: Rows,
    private readonly bell: RowBell,
  ) {}

  /** From its beginning to its end, whether or not it is over. */
  async open(scope: Scope, { logs, after, ...key }: StoryWish): Promise<StoredStream> {
    const { id } = await deploymentRow(scope, key);
    return StoredStream.open(new DeploymentSource(this.rows, this.bell, id, { logs }), after);
  }

  /** Lines alone, in their order. */
  async list(scope: Scope, key: DeploymentKey, { after, limit }: LogPage): Promise<Row<DeploymentMessage>[]> {
    const { id } = await deploymentRow(scope, key);
    const position = after == null ? 0 : await locateMessage(this.rows, id, after, true);
    const text = `${this.rows.select(DeploymentMessage)}
      where deployment_id = $1 and seq > $2 and kind = 'LOG' order by seq limit $3`;
    const lines = await this.rows.query<Row<DeploymentMessage>>(text, [id, position, limit + 1]);
    if (lines.length <= limit) return lines;
    lines.length = limit;
    Object.assign(scope.notes, { hasMore: true, nextCursor: String(lines.at(-1)?.seq) });
    return lines;
  }
}

/** One of another environment is not there. */
export async function deploymentRow(scope: Scope, { environmentId, id }: DeploymentKey): Promise<Row<Deployment>> {
  const deployment = await scope.row(Deployment, id);
  if (deployment.environmentId !== environmentId) throw new NotFound('Deployment');
  return deployment;
}
