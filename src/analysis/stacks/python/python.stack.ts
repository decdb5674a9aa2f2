import { fallbackVersion, firstVersion, majorMinor, versionInFile, versionOfTool } from '../../declared/versions.ts';
import { bestOf, type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { objectAt, textAt } from '../../repository/plain-values.ts';
import { noFacts, type Stack, type StackFacts } from '../../stack.ts';
import { pythonDockerfile } from './python.dockerfile.ts';
import { PythonDependencies } from './python-dependencies.ts';
import { condaFile, pythonInstallOf, pythonPackageManagerOf, requirementsFile } from './python-package-manager.ts';
import { mainFileOf, pythonStartOf } from './python-start.ts';

export const currentPython = '3.13';

export const pythonStack: Stack = {
  language: 'python',

  sign(folder) {
    if (folder.has('manage.py')) return sign(folder, 'manage.py', 0.96);
    const manifest =
      folder.first(['pyproject.toml', 'Pipfile', 'setup.py', 'uv.lock', 'poetry.lock']) ??
      requirementsFile(folder) ??
      condaFile(folder);
    const program = folder.names.find(name => name.endsWith('.py') && name !== 'setup.py');
    if (manifest !== null) return sign(folder, manifest, program === undefined ? 0.74 : 0.92);
    return program === undefined ? null : sign(folder, mainFileOf(folder) ?? program, 0.5);
  },

  describe: describePython,
  dockerfile: pythonDockerfile,
};

const sign = (folder: Folder, file: string, confidence: number): Found<string> =>
  found('python', folder.where(file), `${file} belongs to a Python program`, confidence);

function describePython(folder: Folder): StackFacts {
  const dependencies = new PythonDependencies(folder);
  const frameworks = frameworkOf(folder, dependencies);
  const framework = bestOf(frameworks);
  const managers = pythonPackageManagerOf(folder);
  const port = framework === 'streamlit' ? 8501 : framework === 'gradio' ? 7860 : 8000;
  return {
    ...noFacts,
    languageVersion: pythonVersionOf(folder),
    framework: frameworks,
    packageManager: managers,
    installCommand: pythonInstallOf(folder, bestOf(managers)),
    startCommand: pythonStartOf(folder, framework, dependencies),
    releaseCommand:
      framework === 'django' && folder.has('manage.py')
        ? [found('python manage.py migrate --noinput', folder.where('manage.py'), 'Django migrates its database', 0.9)]
        : [],
    isStatic: [found(false, null, 'Python programs serve by themselves', 0.95)],
    port: candidates(
      portInProgram(folder),
      found(port, null, `${framework ?? 'Python servers'} listen there by default`, 0.7),
    ),
  };
}

const frameworkPackages: readonly (readonly [name: string, packages: readonly string[]])[] = [
  ['django', ['django']],
  ['fasthtml', ['python-fasthtml']],
  ['fastapi', ['fastapi', 'fastapi-slim']],
  ['streamlit', ['streamlit']],
  ['gradio', ['gradio']],
  ['reflex', ['reflex']],
  ['litestar', ['litestar']],
  ['sanic', ['sanic']],
  ['quart', ['quart']],
  ['flask', ['flask']],
  ['aiohttp', ['aiohttp']],
  ['tornado', ['tornado']],
  ['falcon', ['falcon']],
  ['bottle', ['bottle']],
  ['pyramid', ['pyramid']],
  ['starlette', ['starlette']],
];

function frameworkOf(folder: Folder, dependencies: PythonDependencies): Candidates<string> {
  const manage =
    /DJANGO_SETTINGS_MODULE|django/.test(folder.text('manage.py') ?? '') ||
    (folder.has('manage.py') && djangoSettings(folder));
  return candidates(
    manage && found('django', folder.where('manage.py'), "manage.py is Django's", 0.97),
    ...frameworkPackages.flatMap(([name, packages]) => {
      const wanted = packages.find(dependency => dependencies.has(dependency));
      return wanted === undefined ? [] : [found(name, dependencies.fileOf(wanted), `it depends on ${wanted}`, 0.95)];
    }),
  );
}

const djangoSettings = (folder: Folder): boolean => folder.files.some(name => /(?:^|\/)settings\.py$/.test(name));

function pythonVersionOf(folder: Folder): Candidates<string> {
  const project = folder.toml('pyproject.toml');
  const range =
    textAt(project, 'project', 'requires-python') ?? textAt(project, 'tool', 'poetry', 'dependencies', 'python');
  const pipfile = objectAt(folder.has('Pipfile') ? folder.toml('Pipfile') : null, 'requires');
  const piped = firstVersion(textAt(pipfile, 'python_full_version') ?? textAt(pipfile, 'python_version'));
  return candidates(
    versionInFile(folder, '.python-version'),
    versionOfTool(folder, 'python'),
    versionInFile(folder, 'runtime.txt'),
    piped === null ? null : found(piped, folder.where('Pipfile'), 'the Pipfile asks for it', 0.95),
    range === null
      ? null
      : found(
          versionInRange(range),
          folder.where('pyproject.toml'),
          `pyproject.toml asks for ${range.slice(0, 40)}`,
          0.85,
        ),
    fallbackVersion(currentPython, 'Python'),
  );
}

/** ">=3.9" is met by the current version, "==3.11.*", "~=3.11" and "<3.12" are not. */
function versionInRange(range: string): string {
  const lowest = firstVersion(range) ?? currentPython;
  const [, below] = /<\s{0,3}3\.(\d{1,2})/.exec(range) ?? [];
  const current = Number(currentPython.split('.')[1]);
  if (below !== undefined) return `3.${Math.min(Number(below) - 1, current)}`;
  const isOpenEnded = /^\s{0,4}(?:>|\^3)/.test(range);
  const minor = Number(lowest.split('.')[1] ?? 0);
  return isOpenEnded && minor <= current ? currentPython : majorMinor(lowest);
}

function portInProgram(folder: Folder): Found<number> | null {
  const file = mainFileOf(folder);
  const text = file === null ? null : folder.text(file);
  const written =
    /\bport\s{0,4}=\s{0,4}(?:int\()?(?:os\.(?:getenv|environ\.get)\(\s{0,4}['"]PORT['"]\s{0,4},\s{0,4})?['"]?(\d{4,5})\b/.exec(
      text ?? '',
    )?.[1];
  return file === null || written === undefined
    ? null
    : found(Number(written), folder.where(file), 'the program listens there', 0.8);
}
