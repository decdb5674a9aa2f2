import type { Snapshot } from '../../analysis/snapshot/snapshot.ts';
import type { Commit } from '../../entities/analysis.ts';
import type { Deployment } from '../../entities/deployment.ts';
import type { Project } from '../../entities/project.ts';
import type { VariableScope } from '../../entities/variable.ts';
import type { Host } from '../../remote/host.ts';
import type { Secret } from '../../security/secret.ts';
import type { BuildContext } from './image-build.ts';

export interface PlanVariable {
  key: string;
  value: string;
  isSecret: boolean;
  scope: VariableScope;
}

/** One commit of a repository, here on the control plane. */
export interface DeploySource {
  commit: Commit;
  snapshot: Snapshot;
  archive(options: { contextDirectory: string; extraFiles: Record<string, string> }): Promise<BuildContext>;
  dispose(): Promise<void>;
}

export interface SourceWish {
  branch: string | null;
  commit: string | null;
}

/** What the engine is given of those who hold keys: they open accounts, servers and secrets for it. */
export interface DeployMeans {
  useServer<Result>(serverId: string, work: (host: Host) => Promise<Result>): Promise<Result>;
  /** The newest commit of a branch; null for the default one. */
  newestCommit(project: Project, branch: string | null, signal: AbortSignal): Promise<string>;
  checkOut(project: Project, wish: SourceWish, signal: AbortSignal): Promise<DeploySource>;
  variables(environmentId: string): Promise<PlanVariable[]>;
  sealRelease(deploymentId: string, variables: readonly PlanVariable[]): Secret;
  openRelease(deployment: Pick<Deployment, 'id' | 'variables'>): PlanVariable[];
  sealComposition(deploymentId: string, composition: string): Secret;
  openComposition(deployment: Pick<Deployment, 'id' | 'composition'>): string | null;
}
