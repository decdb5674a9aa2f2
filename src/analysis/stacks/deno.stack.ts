import { fallbackVersion, versionInFile, versionOfTool } from '../declared/versions.ts';
import { buildStep } from '../dockerfile/build-step.ts';
import { copy, dockerfile, env, from, run, workdir } from '../dockerfile/dockerfile.ts';
import { serve } from '../dockerfile/serve.ts';
import { type Candidates, candidates, type Found, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { objectAt, textAt } from '../repository/plain-values.ts';
import { type BuildPlan, noFacts, type Stack } from '../stack.ts';

const currentDeno = '2';
const manifests = ['deno.json', 'deno.jsonc'];

export const denoStack: Stack = {
  language: 'deno',

  /** Beside a package.json that starts or builds something, deno.json is there for its tools. */
  sign(folder) {
    const file = folder.first([...manifests, 'deno.lock']);
    if (file === null) return importsByAddress(folder);
    const scripts = objectAt(folder.has('package.json') ? folder.json('package.json') : null, 'scripts');
    const isNode = textAt(scripts, 'start') !== null || textAt(scripts, 'build') !== null;
    return found('deno', folder.where(file), `${file} belongs to a Deno program`, isNode ? 0.4 : 0.96);
  },

  describe(folder) {
    const tasks = tasksOf(folder);
    return {
      ...noFacts,
      languageVersion: candidates(
        versionInFile(folder, '.deno-version') ?? versionInFile(folder, '.dvmrc'),
        versionOfTool(folder, 'deno'),
        fallbackVersion(currentDeno, 'Deno'),
      ),
      framework: frameworkOf(folder),
      packageManager: [found('deno', folder.where(folder.first(manifests) ?? ''), 'Deno brings its own', 0.9)],
      buildCommand:
        textAt(tasks, 'build') === null
          ? []
          : [found('deno task build', manifestOf(folder), 'it has a build task', 0.95)],
      startCommand: startOf(folder, tasks),
      isStatic: [found(false, null, 'Deno programs serve by themselves', 0.85)],
      port: [found(8000, null, "Deno's default", 0.7)],
    };
  },

  dockerfile: denoDockerfile,
};

/** Programs that import by address run on nothing else. */
function importsByAddress(folder: Folder): Found<string> | null {
  for (const [name, text] of folder.texts(/^(?:src\/)?(?:main|mod|server|index|app)\.[jt]sx?$/)) {
    if (/from\s{1,4}['"](?:https:\/\/deno\.land\/|jsr:|npm:)|\bDeno\.serve\(/.test(text))
      return found('deno', folder.where(name), 'it imports by address', 0.8);
  }
  return null;
}

const manifestOf = (folder: Folder): string | null => {
  const file = folder.first(manifests);
  return file === null ? null : folder.where(file);
};

const tasksOf = (folder: Folder) => objectAt(folder.json(folder.first(manifests) ?? ''), 'tasks');

function frameworkOf(folder: Folder): Candidates<string> {
  const imports = Object.keys(objectAt(folder.json(folder.first(manifests) ?? ''), 'imports')).join('\n');
  const text = `${imports}\n${folder.text('main.ts') ?? ''}`;
  return candidates(
    /\$fresh\/|@fresh\/core/.test(text) && found('fresh', manifestOf(folder), 'it imports Fresh', 0.95),
    /@oak\/oak|x\/oak/.test(text) && found('oak', manifestOf(folder), 'it imports Oak', 0.9),
    /(?:^|@)hono/m.test(text) && found('hono', manifestOf(folder), 'it imports Hono', 0.9),
  );
}

const endings = ['ts', 'js', 'mjs', 'mts', 'tsx'];

function startOf(folder: Folder, tasks: unknown): Candidates<string> {
  const names = ['main', 'mod', 'server', 'index', 'app', 'src/main', 'src/index', 'src/server'];
  const entry = folder.first(names.flatMap(name => endings.map(ending => `${name}.${ending}`)));
  const other = folder.files.find(
    name => /^[\w./-]+\.(?:ts|js|mjs|mts)$/.test(name) && !/\.d\.ts$|(?:^|\/)(?:test|_)|\.(?:test|config)\./.test(name),
  );
  const program = entry ?? other ?? null;
  const isTask = textAt(tasks, 'start') !== null && !/--watch/.test(textAt(tasks, 'start') ?? '');
  return candidates(
    isTask && found('deno task start', manifestOf(folder), 'it has a start task', 0.9),
    program === null
      ? null
      : found(
          `deno run --allow-all ${program}`,
          folder.where(program),
          `${program} is there`,
          entry === null ? 0.5 : 0.85,
        ),
  );
}

function denoDockerfile(folder: Folder, plan: BuildPlan): string {
  const version = /^[12](?:\.\d+){0,2}$/.exec(plan.languageVersion ?? '')?.[0] ?? currentDeno;
  const image = version.includes('.') ? `denoland/deno:debian-${version}` : 'denoland/deno:debian';
  const present = [...manifests, 'deno.lock', 'package.json'].filter(name => folder.has(name));
  const entry = /\S+\.m?[jt]sx?$/.exec(plan.startCommand)?.[0] ?? folder.first(['main.ts', 'main.js', 'mod.ts']);
  const isWorkspace = textAt(folder.json(folder.first(manifests) ?? ''), 'workspace') !== null;
  return dockerfile(
    from(image, 'build'),
    workdir('/app'),
    env({ DENO_DIR: '/deno-dir' }),
    ...(present.length > 0 && !isWorkspace ? [copy(present, './'), run('deno install')] : []),
    copy(['.'], './'),
    entry !== null && /^[\w./-]+$/.test(entry) && run(`deno cache ${entry}`),
    ...buildStep(plan),

    from(image, 'runtime'),
    workdir('/app'),
    env({ DENO_DIR: '/deno-dir', PORT: plan.port }),
    copy(['/deno-dir'], '/deno-dir', { from: 'build', owner: 'deno:deno' }),
    copy(['/app'], '/app', { from: 'build', owner: 'deno:deno' }),
    ...serve('deno', plan),
  );
}
