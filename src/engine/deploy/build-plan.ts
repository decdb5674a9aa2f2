import { createHash } from 'node:crypto';
import { AnalysisFailure } from '../../analysis/analysis-failure.ts';
import type { AnalysisResult } from '../../analysis/analysis-result.ts';
import { DeployFailure } from './deploy-failure.ts';
import type { DeploySource, PlanVariable } from './deploy-means.ts';
import type { Release } from './release.ts';

/** How an image is made of a source. */
export interface BuildPlan {
  builder: AnalysisResult['builder'];
  contextDirectory: string;
  /** The Dockerfile, from the root of the context. */
  dockerfile: string;
  extraFiles: Record<string, string>;
  composeFile: string | null;
  /** Where the application listens; null where nobody knows, or it does not. */
  port: number | null;
  /** Arguments of the build; they stand in its history, so none of them is secret. */
  args: Record<string, string>;
}

/** The BuildKit secret that generated Dockerfiles read all variables of the build from. */
export const VARIABLES_SECRET = 'slipway-variables';
export const GENERATED = 'slipway.Dockerfile';

export async function planBuild(source: DeploySource, release: Release): Promise<BuildPlan> {
  const found = await analyze(source, release);
  const { builder, contextDirectory, composeFile } = found;
  const common = { builder, composeFile, port: found.port, args: argsOf(release.buildVariables) };
  const { generatedDockerfile, generatedDockerignore } = found;
  if (generatedDockerfile !== null) {
    const extraFiles = { [GENERATED]: generatedDockerfile, [`${GENERATED}.dockerignore`]: generatedDockerignore ?? '' };
    return { ...common, contextDirectory, dockerfile: GENERATED, extraFiles };
  }
  if (builder === 'COMPOSE') return { ...common, contextDirectory: '', dockerfile: '', extraFiles: {} };
  if (found.dockerfile === null)
    throw new DeployFailure('ANALYSIS_FAILED', 'There is no Dockerfile', 'Set build.dockerfile, or another builder.');
  const directory = found.dockerfile.startsWith(`${contextDirectory}/`) ? contextDirectory : '';
  const dockerfile = directory === '' ? found.dockerfile : found.dockerfile.slice(directory.length + 1);
  return { ...common, contextDirectory: directory, dockerfile, extraFiles: {} };
}

async function analyze(source: DeploySource, { project, settings, buildVariables }: Release): Promise<AnalysisResult> {
  const { slug: name, rootDirectory, id: cacheScope } = project;
  const secret = buildVariables.length > 0 ? { buildSecret: VARIABLES_SECRET } : {};
  try {
    const { analyzeSnapshot } = await import('../../analysis/analyze.ts');
    return await analyzeSnapshot(source.snapshot, { name, rootDirectory, settings, cacheScope, ...secret });
  } catch (error) {
    if (!(error instanceof AnalysisFailure)) throw error;
    throw new DeployFailure('ANALYSIS_FAILED', error.message, error.hint);
  }
}

/** Docker does not look into a secret when it decides whether a step is still good: generated Dockerfiles look at this digest. */
function argsOf(variables: readonly PlanVariable[]): Record<string, string> {
  const plain = variables.filter(({ isSecret }) => !isSecret).map(({ key, value }) => [key, value] as const);
  return { ...Object.fromEntries(plain), BUILD_VARIABLES: digestOf(variables) };
}

const digestOf = (variables: readonly PlanVariable[]): string =>
  createHash('sha256')
    .update(JSON.stringify(variables.map(({ key, value }) => [key, value]).sort()))
    .digest('hex');
