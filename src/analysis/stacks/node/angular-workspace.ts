import type { Folder } from '../../repository/folder.ts';
import { isObject, objectAt, textAt, valueAt } from '../../repository/plain-values.ts';

/** How angular.json has the application built. */
export interface AngularBuild {
  readonly file: string | null;
  readonly project: string | null;
  readonly output: string | null;
  readonly isServed: boolean;
  readonly isPrerendered: boolean;
}

export function angularBuild(folder: Folder): AngularBuild {
  const workspace = folder.json('angular.json');
  const project = projectOf(workspace);
  const target = project === null ? {} : objectAt(targetsOf(workspace, project), 'build');
  const options = objectAt(target, 'options');
  const isServed = valueAt(options, 'server') !== undefined && textAt(options, 'outputMode') !== 'static';
  return {
    file: folder.has('angular.json') ? folder.where('angular.json') : null,
    project,
    output: project === null ? null : outputOf(project, target, options),
    isServed: isServed || isObject(valueAt(options, 'ssr')) || textAt(options, 'outputMode') === 'server',
    isPrerendered: textAt(options, 'outputMode') === 'static',
  };
}

function projectOf(workspace: unknown): string | null {
  const projects = Object.entries(objectAt(workspace, 'projects'));
  const preferred = textAt(workspace, 'defaultProject');
  const application = projects.find(([, project]) => textAt(project, 'projectType') !== 'library');
  return preferred ?? application?.[0] ?? null;
}

function targetsOf(workspace: unknown, project: string) {
  const settings = objectAt(workspace, 'projects', project);
  return 'architect' in settings ? objectAt(settings, 'architect') : objectAt(settings, 'targets');
}

/** The newer builders put what browsers load into a folder of its own. */
function outputOf(project: string, target: unknown, options: unknown): string {
  const base = textAt(options, 'outputPath') ?? textAt(options, 'outputPath', 'base') ?? `dist/${project}`;
  const isNewer = /:application$/.test(textAt(target, 'builder') ?? '');
  const browser = valueAt(options, 'outputPath', 'browser');
  const inner = typeof browser === 'string' ? browser : 'browser';
  return isNewer && inner !== '' ? `${base}/${inner}` : base;
}
