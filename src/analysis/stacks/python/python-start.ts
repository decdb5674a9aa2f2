import { type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { objectAt } from '../../repository/plain-values.ts';
import { portOr } from '../../stack.ts';
import type { PythonDependencies } from './python-dependencies.ts';
import { asgiModule, djangoModule, wsgiModule } from './python-modules.ts';

const mainFiles = ['main.py', 'app.py', 'start.py', 'bot.py', 'hello.py', 'server.py', 'run.py', 'web.py', 'wsgi.py'];

/** The program to run where nothing better is known. */
export const mainFileOf = (folder: Folder): string | null =>
  folder.first(mainFiles) ?? folder.first(mainFiles.map(name => `src/${name}`)) ?? onlyProgram(folder);

export function pythonStartOf(
  folder: Folder,
  framework: string | null,
  dependencies: PythonDependencies,
): Candidates<string> {
  return candidates(
    byFramework(folder, framework, dependencies),
    mainProgram(folder),
    ownCommand(folder),
    packageProgram(folder),
    folder.has('manage.py') &&
      found(
        `python manage.py runserver 0.0.0.0:${portOr(8000)}`,
        folder.where('manage.py'),
        "Django's own server",
        0.4,
      ),
  );
}

function byFramework(folder: Folder, framework: string | null, dependencies: PythonDependencies): Found<string> | null {
  const starts = framework === null ? undefined : frameworkStarts[framework];
  return starts?.(folder, dependencies) ?? null;
}

type FrameworkStart = (folder: Folder, dependencies: PythonDependencies) => Found<string> | null;

const bind = `--bind 0.0.0.0:${portOr(8000)}`;
const hostAndPort = `--host 0.0.0.0 --port ${portOr(8000)}`;

/** Only with a server among the dependencies; where the program brings its own, running it is the better guess. */
const onAsgi: FrameworkStart = (folder, dependencies) => {
  const module = asgiModule(folder);
  if (dependencies.has('gunicorn') && dependencies.has('uvicorn') && !folder.has('main.py')) {
    return found(
      `gunicorn ${bind} -k uvicorn.workers.UvicornWorker ${module.value}`,
      module.file,
      module.reason,
      module.confidence,
    );
  }
  const hasServer = dependencies.has(
    'uvicorn',
    'uvicorn[standard]',
    'fastapi[standard]',
    'fastapi[all]',
    'python-fasthtml',
  );
  return hasServer
    ? found(`uvicorn ${module.value} ${hostAndPort}`, module.file, module.reason, module.confidence)
    : null;
};

const onWsgi: FrameworkStart = (folder, dependencies) => {
  const module = wsgiModule(folder);
  if (!dependencies.has('gunicorn')) return null;
  return found(`gunicorn ${bind} ${module.value}`, module.file, module.reason, module.confidence);
};

const frameworkStarts: Readonly<Record<string, FrameworkStart>> = {
  django: folder => {
    const module = djangoModule(folder);
    return module && found(`gunicorn ${bind} ${module.value}`, module.file, module.reason, module.confidence);
  },
  fastapi: onAsgi,
  starlette: onAsgi,
  litestar: onAsgi,
  fasthtml: onAsgi,
  quart: (folder, dependencies) =>
    dependencies.has('hypercorn')
      ? found(`hypercorn ${bind} ${asgiModule(folder).value}`, null, 'Quart runs on hypercorn', 0.8)
      : null,
  flask: onWsgi,
  bottle: onWsgi,
  falcon: onWsgi,
  streamlit: folder => {
    const file = mainFileOf(folder) ?? folder.first(['streamlit_app.py', 'Home.py']) ?? 'app.py';
    return found(
      `streamlit run ${file} --server.address 0.0.0.0 --server.port ${portOr(8501)}`,
      folder.where(file),
      'Streamlit runs it',
      0.85,
    );
  },
};

function mainProgram(folder: Folder): Found<string> | null {
  const file = mainFileOf(folder);
  return file === null || !/^[\w./-]+$/.test(file)
    ? null
    : found(`python ${file}`, folder.where(file), `${file} is there`, 0.8);
}

function onlyProgram(folder: Folder): string | null {
  const programs = folder.names.filter(
    name => name.endsWith('.py') && !/^(?:setup|conftest|test_.*|.*_test|__init__)\.py$/.test(name),
  );
  return programs.length === 1 ? (programs[0] ?? null) : null;
}

/** A command the package installs under its own name. */
function ownCommand(folder: Folder): Found<string> | null {
  const project = folder.toml('pyproject.toml');
  const names = [
    ...Object.keys(objectAt(project, 'project', 'scripts')),
    ...Object.keys(objectAt(project, 'tool', 'poetry', 'scripts')),
  ];
  const name = names.find(script => ['start', 'serve', 'web', 'app', 'run'].includes(script)) ?? names[0];
  const isPlain = /^[A-Za-z0-9][\w.-]{0,100}$/.test(name ?? '');
  return isPlain
    ? found(name as string, folder.where('pyproject.toml'), 'pyproject.toml installs it as a command', 0.75)
    : null;
}

function packageProgram(folder: Folder): Found<string> | null {
  const file = folder.files.find(name => /^(?:src\/)?\w+\/__main__\.py$/.test(name));
  const name = file?.split('/').at(-2);
  return name === undefined
    ? null
    : found(`python -m ${name}`, folder.where(file as string), 'the package can be run', 0.7);
}
