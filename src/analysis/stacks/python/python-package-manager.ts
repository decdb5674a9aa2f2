import { type Candidates, candidates, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { objectAt, textAt, valueAt } from '../../repository/plain-values.ts';

/** A lock file says what was really used; a table in pyproject.toml says what was meant to be. */
export function pythonPackageManagerOf(folder: Folder): Candidates<string> {
  const project = folder.toml('pyproject.toml');
  const backend = textAt(project, 'build-system', 'build-backend') ?? '';
  const table = (name: string) => valueAt(project, 'tool', name) !== undefined;
  const at = (file: string) => folder.where(file);
  return candidates(
    folder.has('uv.lock') && found('uv', at('uv.lock'), 'uv.lock is its lock file', 0.97),
    folder.has('poetry.lock') && found('poetry', at('poetry.lock'), 'poetry.lock is its lock file', 0.97),
    folder.has('pdm.lock') && found('pdm', at('pdm.lock'), 'pdm.lock is its lock file', 0.97),
    folder.has('Pipfile.lock') && found('pipenv', at('Pipfile.lock'), 'Pipfile.lock is its lock file', 0.97),
    isPoetryProject(project, backend) &&
      found('poetry', at('pyproject.toml'), 'pyproject.toml is written for Poetry', 0.93),
    table('pdm') && found('pdm', at('pyproject.toml'), 'pyproject.toml is written for PDM', 0.9),
    table('uv') && found('uv', at('pyproject.toml'), 'pyproject.toml is written for uv', 0.9),
    folder.has('Pipfile') && found('pipenv', at('Pipfile'), 'Pipfile is its manifest', 0.95),
    condaFile(folder) !== null &&
      found('conda', at(condaFile(folder) as string), 'it describes a conda environment', 0.95),
    requirementsFile(folder) !== null &&
      found('pip', at(requirementsFile(folder) as string), 'requirements are listed for pip', 0.95),
    folder.has('pyproject.toml') &&
      found('pip', at('pyproject.toml'), 'pip installs what pyproject.toml asks for', 0.75),
    folder.has('setup.py') && found('pip', at('setup.py'), 'pip installs what setup.py asks for', 0.75),
  );
}

function isPoetryProject(project: unknown, backend: string): boolean {
  return backend.startsWith('poetry') || Object.keys(objectAt(project, 'tool', 'poetry')).length > 0;
}

export const condaFile = (folder: Folder): string | null => folder.first(['environment.yml', 'environment.yaml']);

/** The list for production; requirements/ is a common place to keep one per purpose. */
export function requirementsFile(folder: Folder): string | null {
  return folder.first([
    'requirements.txt',
    'requirements/production.txt',
    'requirements/prod.txt',
    'requirements/base.txt',
    'requirements-prod.txt',
    'requirements/requirements.txt',
  ]);
}

export function pythonInstallOf(folder: Folder, manager: string | null): Candidates<string> {
  const file = requirementsFile(folder);
  const isLocked = (lock: string) => folder.has(lock);
  const commands: Readonly<Record<string, string>> = {
    uv: isLocked('uv.lock') ? 'uv sync --locked --no-dev --no-editable' : 'uv sync --no-dev --no-editable',
    poetry: `poetry install --only main --no-interaction${isPoetryPackage(folder) ? '' : ' --no-root'}`,
    pdm: isLocked('pdm.lock') ? 'pdm install --check --prod --no-editable' : 'pdm install --prod --no-editable',
    pipenv: isLocked('Pipfile.lock') ? 'pipenv install --deploy --ignore-pipfile' : 'pipenv install --skip-lock',
    conda: `conda env update --name base --file ${condaFile(folder) ?? 'environment.yml'}`,
    pip: file === null ? 'pip install .' : `pip install -r ${file}`,
  };
  const command = commands[manager ?? ''];
  return command === undefined ? [] : [found(command, null, `${manager} installs like this`, 0.9)];
}

/** Poetry refuses to install an application that is no package, unless it is told to leave it. */
function isPoetryPackage(folder: Folder): boolean {
  const project = folder.toml('pyproject.toml');
  const name = textAt(project, 'tool', 'poetry', 'name') ?? textAt(project, 'project', 'name') ?? '';
  const module = name.toLowerCase().replace(/[-.]/g, '_');
  const isDeclared = valueAt(project, 'tool', 'poetry', 'packages') !== undefined;
  const isMeant = valueAt(project, 'tool', 'poetry', 'package-mode') !== false;
  return isMeant && (isDeclared || folder.hasFolder(module) || folder.hasFolder(`src/${module}`));
}
