import type { Folder } from '../../repository/folder.ts';
import { listAt, objectAt, textsAt } from '../../repository/plain-values.ts';

/** The packages a Python application asks for, by their normal names, with the file that asks. */
export class PythonDependencies {
  readonly #files = new Map<string, string>();

  constructor(folder: Folder) {
    for (const file of folder.names.filter(name => /^requirements[\w.-]*\.txt$/.test(name))) {
      this.#add(requirementLines(folder.text(file) ?? ''), folder.where(file));
    }
    this.#add(inRequirementsFolder(folder), folder.where('requirements'));
    this.#add(inProject(folder.toml('pyproject.toml')), folder.where('pyproject.toml'));
    this.#add(Object.keys(objectAt(pipfile(folder), 'packages')), folder.where('Pipfile'));
    this.#add(inSetup(folder.text('setup.py') ?? ''), folder.where('setup.py'));
    this.#add(
      inConda(folder),
      folder.where(folder.first(['environment.yml', 'environment.yaml']) ?? 'environment.yml'),
    );
  }

  /** Where a package is asked for; null where it is not. */
  fileOf(name: string): string | null {
    return this.#files.get(name) ?? null;
  }

  has(...names: readonly string[]): boolean {
    return names.some(name => this.#files.has(name));
  }

  get names(): string[] {
    return [...this.#files.keys()];
  }

  #add(requirements: readonly string[], file: string): void {
    for (const requirement of requirements) {
      const [, name, extras] =
        /^\s{0,8}([A-Za-z0-9][\w.-]{0,100})\s{0,4}(?:\[([^\]]{0,200})\])?/.exec(requirement) ?? [];
      if (name === undefined) continue;
      const normal = name.toLowerCase().replace(/[_.]/g, '-');
      if (!this.#files.has(normal)) this.#files.set(normal, file);
      for (const extra of extras?.split(',') ?? []) this.#files.set(`${normal}[${extra.trim()}]`, file);
    }
  }
}

const requirementLines = (text: string): string[] =>
  text
    .split('\n')
    .slice(0, 5_000)
    .filter(line => !/^\s{0,8}(?:#|-)/.test(line));

function inRequirementsFolder(folder: Folder): string[] {
  const names = ['base', 'common', 'prod', 'production', 'main', 'requirements'];
  return names.flatMap(name => requirementLines(folder.text(`requirements/${name}.txt`) ?? ''));
}

function inProject(project: unknown): string[] {
  const optional = Object.values(objectAt(project, 'project', 'optional-dependencies')).flatMap(group =>
    listAt({ group }, 'group'),
  );
  return [
    ...textsAt(project, 'project', 'dependencies'),
    ...optional.filter(requirement => typeof requirement === 'string'),
    ...poetryRequirements(objectAt(project, 'tool', 'poetry', 'dependencies')),
    ...textsAt(project, 'tool', 'pdm', 'dependencies'),
  ];
}

/** Poetry keeps the extras inside a table: fastapi = {version = "*", extras = ["standard"]}. */
function poetryRequirements(table: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(table).map(([name, wanted]) => `${name}[${textsAt(wanted, 'extras').join(',')}]`);
}

const pipfile = (folder: Folder): unknown => (folder.has('Pipfile') ? folder.toml('Pipfile') : null);

function inSetup(text: string): string[] {
  const list = /install_requires\s{0,4}=\s{0,4}\[([^\]]{0,5000})\]/.exec(text)?.[1] ?? '';
  return [...list.matchAll(/['"]([^'"\n]{1,200})['"]/g)].map(([, requirement]) => requirement as string);
}

function inConda(folder: Folder): string[] {
  const file = folder.first(['environment.yml', 'environment.yaml']);
  const wanted = listAt(file === null ? null : folder.yaml(file), 'dependencies');
  const byPip = wanted.flatMap(item => textsAt(item, 'pip'));
  return [...wanted.filter(item => typeof item === 'string'), ...byPip];
}
