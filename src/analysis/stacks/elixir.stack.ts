import { fallbackVersion, majorMinor, versionInFile, versionOfTool } from '../declared/versions.ts';
import { buildStep } from '../dockerfile/build-step.ts';
import { addUser, aptInstall } from '../dockerfile/debian.ts';
import { copy, dockerfile, env, from, type Instruction, run, workdir } from '../dockerfile/dockerfile.ts';
import { nodeStage, nodeTools } from '../dockerfile/node-assets.ts';
import { serve } from '../dockerfile/serve.ts';
import { bestOf, type Candidates, candidates, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { type BuildPlan, noFacts, type Stack } from '../stack.ts';

const currentElixir = '1.18';

export const elixirStack: Stack = {
  language: 'elixir',

  sign: folder =>
    folder.has('mix.exs')
      ? found('elixir', folder.where('mix.exs'), 'mix.exs is the manifest of an Elixir project', 0.95)
      : null,

  describe(folder) {
    const file = folder.where('mix.exs');
    const name = releaseName(folder);
    const frameworks = frameworkOf(folder);
    const isPhoenix = bestOf(frameworks) === 'phoenix';
    return {
      ...noFacts,
      languageVersion: elixirVersionOf(folder),
      framework: frameworks,
      packageManager: [found('mix', file, 'Mix is the only one', 0.98)],
      installCommand: [found('mix deps.get --only prod', file, 'fetches what mix.exs asks for', 0.95)],
      buildCommand: [
        found(
          hasAssets(folder) ? 'mix assets.deploy && mix release' : 'mix release',
          file,
          'a release is what runs',
          0.9,
        ),
      ],
      startCommand: [found(`/app/_build/prod/rel/${name}/bin/${name} start`, file, 'starts the release', 0.9)],
      releaseCommand:
        isPhoenix && /:ecto_sql\b/.test(folder.text('mix.exs') ?? '')
          ? [found(`/app/_build/prod/rel/${name}/bin/migrate`, file, "Phoenix' generator makes it", 0.5)]
          : [],
      isStatic: [found(false, null, 'Elixir programs serve by themselves', 0.95)],
      port: [found(4000, null, "Phoenix' default", 0.7)],
    };
  },

  dockerfile: elixirDockerfile,
};

const releaseName = (folder: Folder): string =>
  /\bapp:\s{0,4}:(\w{1,64})/.exec(folder.text('mix.exs') ?? '')?.[1] ?? 'app';

const hasAssets = (folder: Folder): boolean => /['"]assets\.deploy['"]/.test(folder.text('mix.exs') ?? '');

function frameworkOf(folder: Folder): Candidates<string> {
  const text = folder.text('mix.exs') ?? '';
  const file = folder.where('mix.exs');
  return candidates(
    /\{:phoenix,/.test(text) && found('phoenix', file, 'mix.exs asks for Phoenix', 0.97),
    /\{:(?:plug_cowboy|bandit|plug),/.test(text) && found('plug', file, 'mix.exs asks for Plug', 0.85),
  );
}

function elixirVersionOf(folder: Folder): Candidates<string> {
  const written = /\belixir:\s{0,4}"(?:~>|>=)?\s{0,4}(\d+\.\d+)/.exec(folder.text('mix.exs') ?? '')?.[1];
  // "~> 1.14" is met by every later 1.x.
  const atLeast =
    written === undefined
      ? null
      : Number(written.split('.')[1]) > Number(currentElixir.split('.')[1])
        ? written
        : currentElixir;
  return candidates(
    versionInFile(folder, '.elixir-version'),
    versionOfTool(folder, 'elixir'),
    atLeast === null ? null : found(atLeast, folder.where('mix.exs'), `mix.exs asks for ${written} or later`, 0.8),
    fallbackVersion(currentElixir, 'Elixir'),
  );
}

function elixirDockerfile(folder: Folder, plan: BuildPlan): string {
  const version = majorMinor(/^1\.\d+(?:\.\d+)?$/.exec(plan.languageVersion ?? '')?.[0] ?? currentElixir);
  const name = releaseName(folder);
  const hasScripts = folder.has('assets/package.json');
  return dockerfile(
    nodeStage(hasScripts),
    from(`elixir:${version}-slim`, 'build'),
    workdir('/app'),
    env({ MIX_ENV: 'prod', LANG: 'C.UTF-8' }),
    aptInstall('build-essential', 'git'),
    ...nodeTools(hasScripts),
    run('mix local.hex --force && mix local.rebar --force'),
    ...dependenciesFirst(folder, plan),
    copy(['.'], './'),
    hasScripts && run('npm install --prefix assets'),
    ...buildStep(plan),

    // The release brings its own Erlang, linked against this very distribution.
    from(`elixir:${version}-slim`, 'runtime'),
    workdir('/app'),
    addUser(),
    env({ LANG: 'C.UTF-8', MIX_ENV: 'prod', PHX_SERVER: 'true', PORT: plan.port }),
    copy([`/app/_build/prod/rel/${name}`], `/app/_build/prod/rel/${name}`, { from: 'build', owner: 'app:app' }),
    ...serve('app', plan),
  );
}

function dependenciesFirst(folder: Folder, plan: BuildPlan): Instruction[] {
  if (plan.installCommand === null) return [];
  const cache = { id: `${plan.cacheScope}-hex`, target: '/root/.cache/rebar3' };
  const isUmbrella = folder.hasFolder('apps');
  if (plan.hasOwnInstall || isUmbrella) return [copy(['.'], './'), run(plan.installCommand, cache, ...plan.secrets)];
  const settings = folder.hasFolder('config') ? [copy(['config'], './config')] : [];
  const manifests = ['mix.exs', 'mix.lock'].filter(name => folder.has(name));
  return [
    copy(manifests, './'),
    ...settings,
    run(plan.installCommand, cache, ...plan.secrets),
    run('mix deps.compile'),
  ];
}
