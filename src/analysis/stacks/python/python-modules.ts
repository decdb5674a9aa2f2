import { type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';

/** `module:variable`, as servers for Python want it. */

export const asgiModule = (folder: Folder): Found<string> =>
  moduleWith(
    folder,
    /^(\w{1,64})(?:\s{0,4}:\s{0,4}[\w.]{1,64})?\s{0,4}=\s{0,4}(?:\w{1,64}\.)?(?:FastAPI|Starlette|Litestar|FastHTML|Quart)\(/m,
  ) ??
  moduleWith(folder, /^(app)\s{0,4},\s{0,4}rt\s{0,4}=\s{0,4}fast_app\(/m) ??
  usualModule(folder);

export const wsgiModule = (folder: Folder): Found<string> =>
  moduleWith(
    folder,
    /^(\w{1,64})(?:\s{0,4}:\s{0,4}[\w.]{1,64})?\s{0,4}=\s{0,4}(?:\w{1,64}\.)?(?:Flask|Bottle|App|API)\(/m,
  ) ??
  moduleWith(folder, /^(\w{1,64})\s{0,4}=\s{0,4}create_app\(/m) ??
  usualModule(folder);

const searched =
  /^(?:src\/|app\/|api\/|server\/|backend\/)?(?:main|app|server|wsgi|asgi|api|run|web|application|index|__init__)\.py$/;

function moduleWith(folder: Folder, assignment: RegExp): Found<string> | null {
  const texts = [...folder.texts(searched)].sort(([a], [b]) => a.split('/').length - b.split('/').length);
  for (const [name, text] of [...texts, ...folder.texts(/^[\w-]+\.py$/)]) {
    const variable = assignment.exec(text)?.[1];
    if (variable !== undefined)
      return found(`${moduleOf(name)}:${variable}`, folder.where(name), 'the application is made there', 0.95);
  }
  return null;
}

function usualModule(folder: Folder): Found<string> {
  const name =
    folder.first(['main.py', 'app.py', 'wsgi.py', 'server.py', 'src/main.py', 'app/main.py', 'api/main.py']) ??
    'main.py';
  return found(
    `${moduleOf(name)}:app`,
    folder.has(name) ? folder.where(name) : null,
    'the usual name of the application',
    0.7,
  );
}

const moduleOf = (name: string): string => name.replace(/(?:\/__init__)?\.py$/, '').replaceAll('/', '.');

/** Django's settings name the module; without them the folder that holds wsgi.py is its name. */
export function djangoModule(folder: Folder): Found<string> | null {
  for (const [name, text] of folder.texts(/settings(?:\/\w+)?\.py$/)) {
    const module = /^WSGI_APPLICATION\s{0,4}=\s{0,4}['"]([\w.]{1,200})\.(\w{1,64})['"]/m.exec(text);
    if (module) return found(`${module[1]}:${module[2]}`, folder.where(name), 'the settings name it', 0.95);
  }
  const wsgi = folder.files.find(name => /^(?:[\w-]+\/)?wsgi\.py$/.test(name));
  if (wsgi !== undefined) return found(`${moduleOf(wsgi)}:application`, folder.where(wsgi), 'wsgi.py is there', 0.9);
  const settings = folder.files.find(name => /^\w+\/settings(?:\.py|\/__init__\.py)$/.test(name));
  const project = settings?.split('/')[0];
  return project
    ? found(`${project}.wsgi:application`, folder.where(settings as string), 'the usual place of wsgi.py', 0.7)
    : null;
}
