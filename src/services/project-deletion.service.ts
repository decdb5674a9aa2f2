import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { UseMachine } from '../engine/environment-power.ts';
import { EnvironmentRemoval, type RemovalWish } from '../engine/environment-removal.ts';
import type { Step } from '../engine/run.engine.ts';
import { Analysis, AnalysisStatus } from '../entities/analysis.ts';
import { Environment } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { Project, ProjectStatus } from '../entities/project.ts';
import { Run, RunStatus } from '../entities/run.ts';
import { ringRows } from '../events/row-bell.ts';
import { transact, type UnitOfWork, workOrigin } from '../events/unit-of-work.ts';
import type { AutoDeployService } from './auto-deploy.service.ts';
import { bringBack } from './environment-deletion.service.ts';

/** How a project is taken away: from the servers of its environments first, then the rows. */
export class ProjectDeletionService {
  constructor(
    private readonly em: EntityManager,
    private readonly use: UseMachine,
    private readonly autoDeploy: Pick<AutoDeployService, 'forget'>,
  ) {}

  steps(run: Run, projectId: string, wish: RemovalWish): Step[] {
    return [
      { name: 'servers', run: signal => this.#clearServers(run, projectId, wish, signal) },
      { name: 'rows', run: () => this.#removeRows(run, projectId) },
    ];
  }

  /** A deletion that failed can be asked for again, one that was cancelled in time never happened. */
  async settle(runId: string, projectId: string): Promise<void> {
    const run = await this.em.fork().findOne(Run, runId);
    if (run?.status !== RunStatus.FAILED && run?.status !== RunStatus.CANCELLED) return;
    await transact(this.em, originOf(run), async unit => {
      const project = await unit.em.findOne(Project, projectId, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (project?.status !== ProjectStatus.DELETING) return;
      project.status =
        run.status === RunStatus.FAILED ? ProjectStatus.DELETE_FAILED : await statusBefore(unit, project);
      for (const environment of await unit.em.find(Environment, { projectId })) bringBack(unit, environment, run);
      unit.tell(EventKind.project_updated, EventAction.UPDATED, project, project.id);
    });
  }

  async #clearServers(run: Run, projectId: string, wish: RemovalWish, signal: AbortSignal): Promise<string> {
    const removal = new EnvironmentRemoval(this.em, this.use, run, wish);
    const said: string[] = [];
    for (const { id, name } of await this.em.fork().find(Environment, { projectId }, { orderBy: { id: 'asc' } })) {
      signal.throwIfAborted();
      said.push(`${name}: ${await removal.clear(id)}`);
    }
    return said.length === 0 ? 'It has no environments' : said.join('. ');
  }

  async #removeRows(run: Run, projectId: string): Promise<string> {
    return transact(this.em, originOf(run), async unit => {
      // In the order of whoever writes an analysis: the other way round the two would wait for each other.
      await unit.em.find(Analysis, { projectId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      const project = await unit.em.findOne(Project, { id: projectId, workspaceId: run.workspaceId });
      if (project === null) return 'It was gone already';
      for (const environment of await unit.em.find(Environment, { projectId })) {
        await this.autoDeploy.forget(unit, environment);
        unit.tell(EventKind.environment_updated, EventAction.DELETED, environment, projectId);
      }
      unit.tell(EventKind.project_updated, EventAction.DELETED, project, projectId);
      unit.em.remove(project);
      // Whoever watches its analysis learns that there is nothing more to come.
      await ringRows(unit.em, `analysis:${project.analysisId}`);
      return 'Removed';
    });
  }
}

/** What a project was is seen in what it has. */
async function statusBefore(unit: UnitOfWork, project: Project): Promise<ProjectStatus> {
  const { id: projectId, analysisId, isFinalized } = project;
  if (isFinalized) return ProjectStatus.READY;
  const analysis = await unit.em.findOne(Analysis, { id: analysisId ?? projectId });
  if (analysis?.status === AnalysisStatus.SUCCEEDED) return ProjectStatus.ANALYZED;
  return analysis?.finishedAt === null ? ProjectStatus.ANALYZING : ProjectStatus.ANALYSIS_FAILED;
}

const originOf = (run: Run) => workOrigin('deleteProject', run.workspaceId, run.requestedBy);
