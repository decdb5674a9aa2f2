import type { EntityManager } from '@mikro-orm/postgresql';
import type { Step } from '../engine/run.engine.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Project } from '../entities/project.ts';
import type { Run } from '../entities/run.ts';
import { transact } from '../events/unit-of-work.ts';

/** How a project is taken away. Steps that clean up on servers come before the rows, with the feature that puts things there. */
export class ProjectDeletionService {
  constructor(private readonly em: EntityManager) {}

  steps(run: Run, projectId: string): Step[] {
    return [{ name: 'rows', run: () => this.#removeRows(run, projectId) }];
  }

  async #removeRows(run: Run, projectId: string): Promise<string> {
    const origin = {
      workspaceId: run.workspaceId,
      actor: run.requestedBy,
      tokenId: null,
      ip: null,
      requestId: null,
      action: 'deleteProject',
    };
    return transact(this.em, origin, async unit => {
      const project = await unit.em.findOne(Project, { id: projectId, workspaceId: run.workspaceId });
      if (project === null) return 'It was gone already';
      unit.tell(EventKind.project_updated, EventAction.DELETED, project, project.id);
      unit.em.remove(project);
      return 'Removed';
    });
  }
}
