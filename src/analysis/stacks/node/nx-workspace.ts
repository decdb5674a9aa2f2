import { type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { objectAt, textAt, valueAt } from '../../repository/plain-values.ts';
import { isPlainPackageName } from './node-commands.ts';
import type { NodePackageManager } from './package-manager.ts';
import { PackageManifest } from './package-manifest.ts';

interface NxProject {
  readonly name: string;
  readonly folder: Folder;
  readonly targets: Readonly<Record<string, unknown>>;
}

/** Nx keeps its commands in project.json files, or infers them from the tools it sees; the root's scripts only call it. */
export function nxStart(folder: Folder, manager: NodePackageManager): Found<string> | null {
  const project = nxProjectOf(folder);
  if (project === null) return null;
  const { name, folder: home, targets } = project;
  const config = home.names.find(name => /^next\.config\.[cm]?[jt]s$/.test(name));
  if (config !== undefined && !('start' in targets)) {
    return found(
      `cd ${home.path} && next start`,
      home.where(config),
      'the Next.js application of the Nx workspace',
      0.85,
    );
  }
  const file = home.where('project.json');
  if ('start' in targets)
    return found(`npx nx run ${withConfiguration(name, 'start', targets)}`, file, 'it has a start target', 0.85);
  const output = textAt(targets, 'build', 'options', 'outputPath');
  if (output === null || !/^[\w./@-]{1,200}$/.test(output)) return null;
  const main = textAt(targets, 'build', 'options', 'main') === null ? 'index.js' : 'main.js';
  return found(`${manager === 'bun' ? 'bun' : 'node'} ${output}/${main}`, file, 'its build target writes there', 0.85);
}

export function nxBuild(folder: Folder): Found<string> | null {
  const project = nxProjectOf(folder);
  if (project === null) return null;
  const file = project.folder.where(project.folder.has('project.json') ? 'project.json' : 'package.json');
  const isWritten = 'build' in project.targets;
  const command = isWritten
    ? `npx nx run ${withConfiguration(project.name, 'build', project.targets)}`
    : `npx nx build ${project.name}`;
  return found(command, file, 'Nx builds the project with what it needs', 0.9);
}

/** The project meant by default, or the only application. With several to choose from, the choice is the owner's. */
function nxProjectOf(folder: Folder): NxProject | null {
  if (!folder.has('nx.json') || hasOwnStart(folder)) return null;
  const projects = projectsOf(folder);
  const preferred = textAt(folder.json('nx.json'), 'defaultProject');
  const applications = projects.filter(project => isApplication(project));
  return (
    projects.find(({ name }) => name === preferred) ?? (applications.length === 1 ? (applications[0] ?? null) : null)
  );
}

const hasOwnStart = (folder: Folder): boolean =>
  !/^(?:|(?:npx )?nx .*)$/.test(new PackageManifest(folder).script('start') ?? '');

function projectsOf(folder: Folder): NxProject[] {
  const homes = folder.files
    .filter(file => /^(?:apps|packages|libs|projects)\/[^/]+(?:\/[^/]+)?\/(?:project|package)\.json$/.test(file))
    .map(file => file.slice(0, file.lastIndexOf('/')));
  return [...new Set(homes)].slice(0, 200).flatMap(path => projectAt(folder.in(path)) ?? []);
}

function projectAt(home: Folder): NxProject | null {
  const written = home.has('project.json') ? home.json('project.json') : null;
  const manifest = home.has('package.json') ? new PackageManifest(home) : null;
  const lastName = home.path.slice(home.path.lastIndexOf('/') + 1);
  const name = textAt(written, 'name') ?? manifest?.name ?? lastName;
  if (!isPlainPackageName(name) || !/^[\w./@-]+$/.test(home.path)) return null;
  return { name, folder: home, targets: objectAt(written, 'targets') };
}

function isApplication({ folder }: NxProject): boolean {
  if (folder.has('project.json')) return textAt(folder.json('project.json'), 'projectType') === 'application';
  return folder.path.startsWith('apps/') || folder.path.includes('/apps/');
}

function withConfiguration(name: string, target: string, targets: NxProject['targets']): string {
  const hasProduction = valueAt(targets, target, 'configurations', 'production') !== undefined;
  return hasProduction ? `${name}:${target}:production` : `${name}:${target}`;
}
