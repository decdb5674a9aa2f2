import { majorMinor } from '../../declared/versions.ts';
import { buildStep } from '../../dockerfile/build-step.ts';
import { addUser, aptInstall } from '../../dockerfile/debian.ts';
import {
  type CacheMount,
  copy,
  dockerfile,
  env,
  from,
  type Instruction,
  isCopyable,
  run,
  workdir,
} from '../../dockerfile/dockerfile.ts';
import { serve } from '../../dockerfile/serve.ts';
import type { Folder } from '../../repository/folder.ts';
import { valueAt } from '../../repository/plain-values.ts';
import type { BuildPlan } from '../../stack.ts';
import { PythonDependencies } from './python-dependencies.ts';
import { condaFile, requirementsFile } from './python-package-manager.ts';

const venv = '/opt/venv';

export function pythonDockerfile(folder: Folder, plan: BuildPlan): string {
  if (plan.packageManager === 'conda') return condaDockerfile(folder, plan);
  const image = `python:${majorMinor(/^3\.\d+(?:\.\d+)?$/.exec(plan.languageVersion ?? '')?.[0] ?? '3.13')}-slim-bookworm`;
  const dependencies = new PythonDependencies(folder);
  const system = systemPackages(folder, dependencies);
  return dockerfile(
    from(image, 'build'),
    workdir('/app'),
    env({
      PATH: `${venv}/bin:$PATH`,
      VIRTUAL_ENV: venv,
      UV_PROJECT_ENVIRONMENT: venv,
      UV_LINK_MODE: 'copy',
      UV_PYTHON_DOWNLOADS: 'never',
    }),
    aptInstall(...system.build),
    // Before the environment exists, pip puts the manager beside it: what it installs later is the application's alone.
    installManager(plan),
    run(`python -m venv ${venv}`),
    ...installFirst(folder, plan, dependencies),
    ...buildStep(plan),
    collectStatic(folder, plan),

    from(image, 'runtime'),
    workdir('/app'),
    aptInstall(...system.run),
    addUser(),
    env({ PATH: `${venv}/bin:$PATH`, PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1', PORT: plan.port }),
    copy([venv], venv, { from: 'build' }),
    copy(['/app'], '/app', { from: 'build', owner: 'app:app' }),
    ...serve('app', plan),
  );
}

const cacheOf = (plan: BuildPlan): CacheMount => {
  const folders: Readonly<Record<string, string>> = { uv: 'uv', poetry: 'pypoetry', pdm: 'pdm' };
  const name = folders[plan.packageManager ?? ''] ?? 'pip';
  return { id: `${plan.cacheScope}-${name}`, target: `/root/.cache/${name}` };
};

const pipCache = (plan: BuildPlan): CacheMount => ({ id: `${plan.cacheScope}-pip`, target: '/root/.cache/pip' });

function installManager(plan: BuildPlan): Instruction {
  const tool = plan.installCommand === null ? undefined : managers[plan.packageManager ?? '']?.tool;
  return tool !== undefined && run(`pip install ${tool}`, pipCache(plan));
}

/** The packages alone, then the sources, then the application as a package where it is one. */
function installFirst(folder: Folder, plan: BuildPlan, dependencies: PythonDependencies): Instruction[] {
  const everything = copy(['.'], './');
  const servers = extraServers(plan, dependencies).map(server => run(`pip install ${server}`, pipCache(plan)));
  if (plan.installCommand === null) return [...servers, everything];
  const manager = managers[plan.packageManager ?? ''];
  const present = (manager?.files(folder) ?? []).filter(name => folder.has(name));
  const isAlone = present.length > 0 && present.every(isCopyable) && !plan.hasOwnInstall && !needsSources(folder, plan);
  if (!isAlone) return [everything, run(plan.installCommand, cacheOf(plan), ...plan.secrets), ...servers];
  const first = manager?.packagesOnly?.(plan.installCommand) ?? plan.installCommand;
  if (first === plan.installCommand)
    return [...copies(present), run(first, cacheOf(plan), ...plan.secrets), ...servers, everything];
  return [
    ...copies(present),
    run(first, cacheOf(plan), ...plan.secrets),
    everything,
    run(plan.installCommand, cacheOf(plan), ...plan.secrets),
    ...servers,
  ];
}

/** A list in a folder of its own keeps its place: lists include each other by relative names. */
function copies(files: readonly string[]): Instruction[] {
  const here = files.filter(name => !name.includes('/'));
  const below = files.filter(name => name.includes('/'));
  return [copy(here, './'), ...below.map(name => copy([name], `./${name}`))];
}

interface Manager {
  readonly tool?: string;
  files(folder: Folder): string[];
  packagesOnly?(install: string): string;
}

const managers: Readonly<Record<string, Manager>> = {
  pip: {
    files: folder =>
      folder.files.filter(
        name => /^(?:requirements\/)?[\w.-]*\.txt$/.test(name) && /require|constraint|^requirements\//.test(name),
      ),
  },
  uv: {
    tool: 'uv',
    files: () => ['pyproject.toml', 'uv.lock', '.python-version'],
    packagesOnly: install => `${install} --no-install-project`,
  },
  poetry: {
    tool: 'poetry',
    files: () => ['pyproject.toml', 'poetry.lock', 'poetry.toml'],
    packagesOnly: install => (install.includes('--no-root') ? install : `${install} --no-root`),
  },
  pdm: {
    tool: 'pdm',
    files: () => ['pyproject.toml', 'pdm.lock', 'pdm.toml'],
    packagesOnly: install => `${install} --no-self`,
  },
  pipenv: { tool: 'pipenv', files: () => ['Pipfile', 'Pipfile.lock'] },
};

/** "pip install ." builds the application itself; "-e ." and paths in a list do the same; a uv workspace needs its members. */
function needsSources(folder: Folder, plan: BuildPlan): boolean {
  if (plan.packageManager === 'pip') {
    const list = requirementsFile(folder);
    return list === null || /^\s{0,8}(?:-e |--editable |\.{1,2}\/|\.(?:\[|\s|$)|file:)/m.test(folder.text(list) ?? '');
  }
  return (
    plan.packageManager === 'uv' && valueAt(folder.toml('pyproject.toml'), 'tool', 'uv', 'workspace') !== undefined
  );
}

/** A server that the start command names and nobody installs. */
function extraServers(plan: BuildPlan, dependencies: PythonDependencies): string[] {
  const program = /^\w+/.exec(plan.startCommand)?.[0] ?? '';
  return ['gunicorn', 'hypercorn'].filter(server => program === server && !dependencies.has(server));
}

/** Django refuses to start without a key even where none is used; this one never leaves the build. */
function collectStatic(folder: Folder, plan: BuildPlan): Instruction {
  const settings = [...folder.texts(/settings(?:\/\w+)?\.py$/)].some(([, text]) =>
    /^\s{0,8}STATIC_ROOT\s{0,4}=/m.test(text),
  );
  const isCollected = plan.framework === 'django' && folder.has('manage.py') && settings;
  return (
    isCollected && run('SECRET_KEY=build-only DJANGO_SECRET_KEY=build-only python manage.py collectstatic --noinput')
  );
}

/** Packages that are compiled against a library of the system, and what they need of it then and later. */
const systemLibraries: Readonly<Record<string, { build: string[]; run: string[] }>> = {
  psycopg2: { build: ['gcc', 'libpq-dev'], run: ['libpq5'] },
  psycopg: { build: [], run: ['libpq5'] },
  mysqlclient: { build: ['gcc', 'pkg-config', 'default-libmysqlclient-dev'], run: ['libmariadb3'] },
  pycairo: { build: ['gcc', 'pkg-config', 'libcairo2-dev'], run: ['libcairo2'] },
  'python-ldap': { build: ['gcc', 'libldap2-dev', 'libsasl2-dev'], run: ['libldap-2.5-0'] },
  uwsgi: { build: ['gcc', 'libc6-dev'], run: [] },
  pyodbc: { build: ['g++', 'unixodbc-dev'], run: ['unixodbc'] },
  pdf2image: { build: [], run: ['poppler-utils'] },
  pydub: { build: [], run: ['ffmpeg'] },
  weasyprint: { build: [], run: ['libpango-1.0-0', 'libpangoft2-1.0-0'] },
};

function systemPackages(folder: Folder, dependencies: PythonDependencies) {
  const needed = Object.entries(systemLibraries)
    .filter(([name]) => dependencies.has(name))
    .map(([, libraries]) => libraries);
  const fetchesByGit = [...folder.texts(/^(?:requirements[\w.-]*\.txt|pyproject\.toml|Pipfile)$/)].some(([, text]) =>
    /git\+|\bgit\s{0,4}=/.test(text),
  );
  return {
    build: [...needed.flatMap(({ build }) => build), ...(fetchesByGit ? ['git'] : [])],
    run: needed.flatMap(libraries => libraries.run),
  };
}

function condaDockerfile(folder: Folder, plan: BuildPlan): string {
  const file = condaFile(folder) ?? 'environment.yml';
  return dockerfile(
    from('condaforge/miniforge3:latest', 'build'),
    workdir('/app'),
    copy([file], './'),
    run(plan.installCommand, { id: `${plan.cacheScope}-conda`, target: '/opt/conda/pkgs' }, ...plan.secrets),
    ...buildStep(plan),

    from('condaforge/miniforge3:latest', 'runtime'),
    workdir('/app'),
    addUser(),
    env({ PYTHONUNBUFFERED: '1', PORT: plan.port }),
    copy(['/opt/conda'], '/opt/conda', { from: 'build' }),
    copy(['.'], './', { owner: 'app:app' }),
    ...serve('app', plan),
  );
}
