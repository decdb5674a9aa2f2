import { fallbackVersion, firstVersion, majorMinor } from '../declared/versions.ts';
import { buildStep } from '../dockerfile/build-step.ts';
import { copy, dockerfile, env, from, type Instruction, isCopyable, run, workdir } from '../dockerfile/dockerfile.ts';
import { serve } from '../dockerfile/serve.ts';
import { bestOf, type Candidates, candidates, type Found, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { textAt } from '../repository/plain-values.ts';
import { elementsNamed, type XmlElement } from '../repository/xml-text.ts';
import { type BuildPlan, noFacts, type Stack } from '../stack.ts';

const currentDotnet = '10.0';
const projectFile = /\.(?:csproj|fsproj|vbproj)$/;

export const dotnetStack: Stack = {
  language: 'dotnet',

  sign(folder) {
    const manifest =
      folder.names.find(name => projectFile.test(name)) ?? folder.names.find(name => /\.slnx?$/.test(name));
    if (manifest !== undefined)
      return found('dotnet', folder.where(manifest), `${manifest} builds a .NET program`, 0.94);
    const nested = folder.files.find(name => projectFile.test(name) && name.split('/').length <= 3);
    if (nested !== undefined) return found('dotnet', folder.where(nested), `${nested} builds a .NET program`, 0.6);
    const program = folder.names.find(name => /\.cs$|\.runtimeconfig\.json$/.test(name));
    return program === undefined
      ? null
      : found('dotnet', folder.where(program), `${program} belongs to a .NET program`, 0.45);
  },

  describe(folder) {
    const projects = projectsOf(folder);
    const project = bestOf(projects);
    return {
      ...noFacts,
      languageVersion: dotnetVersionOf(folder, project),
      framework: frameworkOf(folder, project),
      packageManager: [found('nuget', projects[0]?.file ?? null, '.NET brings its own', 0.95)],
      installCommand: [
        found(`dotnet restore${target(project)}`, projects[0]?.file ?? null, 'fetches what the project asks for', 0.9),
      ],
      buildCommand: [
        found(
          `dotnet publish${target(project)} --no-restore -c Release -o out`,
          projects[0]?.file ?? null,
          'publishes the project',
          0.9,
        ),
      ],
      startCommand: startOf(folder, projects),
      isStatic: [found(false, null, '.NET programs serve by themselves', 0.9)],
      port: [found(8080, null, 'the port of the .NET images', 0.8)],
    };
  },

  dockerfile: dotnetDockerfile,
};

/** A project at the root needs no name; anywhere else the command has to say which one. */
const target = (project: string | null): string => (project?.includes('/') && isCopyable(project) ? ` ${project}` : '');

/** Nearest first, a server before a program before a library; tests are no candidates. */
function projectsOf(folder: Folder): Candidates<string> {
  const files = folder.files.filter(name => projectFile.test(name) && !/tests?\b/i.test(name)).slice(0, 200);
  const ranked = files.map(name => ({ name, rank: name.split('/').length * 2 + kindRank(folder.xml(name)) * 3 }));
  return ranked
    .sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1))
    .map(({ name }) => found(name, folder.where(name), `${name} is a project`, files.length === 1 ? 0.95 : 0.75));
}

const sdkOf = (project: XmlElement | null): string => project?.children[0]?.attributes.Sdk ?? '';

function kindRank(project: XmlElement | null): number {
  if (/\.Web$/.test(sdkOf(project))) return 0;
  if (/Worker$/.test(sdkOf(project)) || /exe/i.test(propertyOf(project, 'OutputType') ?? '')) return 1;
  return /BlazorWebAssembly$/.test(sdkOf(project)) ? 2 : 3;
}

function propertyOf(project: XmlElement | null, name: string): string | null {
  const written = project === null ? [] : elementsNamed(project, name);
  return written[0]?.text.trim() || null;
}

function frameworkOf(folder: Folder, name: string | null): Candidates<string> {
  const project = name === null ? null : folder.xml(name);
  const file = name === null ? null : folder.where(name);
  const packages =
    project === null
      ? []
      : elementsNamed(project, 'PackageReference').map(({ attributes }) => attributes.Include ?? '');
  const isFramework =
    project !== null &&
    elementsNamed(project, 'FrameworkReference').some(
      ({ attributes }) => attributes.Include === 'Microsoft.AspNetCore.App',
    );
  return candidates(
    sdkOf(project) === 'Microsoft.NET.Sdk.BlazorWebAssembly' &&
      found('blazor', file, 'the project is a Blazor application', 0.95),
    (sdkOf(project) === 'Microsoft.NET.Sdk.Web' || isFramework) &&
      found('aspnet', file, "the project uses ASP.NET's SDK", 0.97),
    packages.some(dependency => dependency.startsWith('Microsoft.AspNetCore')) &&
      found('aspnet', file, 'the project uses ASP.NET', 0.85),
  );
}

function startOf(folder: Folder, projects: Candidates<string>): Candidates<string> {
  const starts = projects.slice(0, 10).flatMap(({ value, file, confidence }) => {
    const written = propertyOf(folder.xml(value), 'AssemblyName') ?? '';
    const stem = value.slice(value.lastIndexOf('/') + 1).replace(projectFile, '');
    const name = [written, stem].find(candidate => /^[\w.-]{1,200}$/.test(candidate));
    const isLibrary = kindRank(folder.xml(value)) === 3 && sdkOf(folder.xml(value)) !== '';
    return name === undefined
      ? []
      : [found(`./out/${name}`, file, 'what the project is published as', isLibrary ? 0.4 : confidence)];
  });
  return candidates(...starts, singleProgram(folder));
}

/** From .NET 10 on a program may be one file without a project. */
function singleProgram(folder: Folder): Found<string> | null {
  const file = folder.names.find(
    name => /^[\w-]+\.cs$/.test(name) && !folder.names.some(other => projectFile.test(other)),
  );
  return file === undefined
    ? null
    : found(`./out/${file.slice(0, -3)}`, folder.where(file), `${file} is a program of one file`, 0.6);
}

function dotnetVersionOf(folder: Folder, name: string | null): Candidates<string> {
  const project = name === null ? null : folder.xml(name);
  const framework = propertyOf(project, 'TargetFramework') ?? propertyOf(project, 'TargetFrameworks');
  const targeted = /^net(?:coreapp)?(\d+\.\d+)/.exec(framework ?? '')?.[1] ?? null;
  const pinned = folder.has('global.json') ? firstVersion(textAt(folder.json('global.json'), 'sdk', 'version')) : null;
  return candidates(
    targeted === null ? null : found(targeted, folder.where(name as string), 'the project targets it', 0.95),
    pinned === null ? null : found(majorMinor(pinned), folder.where('global.json'), 'global.json pins it', 0.9),
    fallbackVersion(currentDotnet, '.NET'),
  );
}

function dotnetDockerfile(folder: Folder, plan: BuildPlan): string {
  const version = /^(?:[5-9]|1\d)\.0$/.exec(plan.languageVersion ?? '')?.[0] ?? currentDotnet;
  const cache = { id: `${plan.cacheScope}-nuget`, target: '/root/.nuget/packages' };
  return dockerfile(
    from(`mcr.microsoft.com/dotnet/sdk:${version}`, 'build'),
    workdir('/app'),
    env({ DOTNET_CLI_TELEMETRY_OPTOUT: '1' }),
    ...packagesFirst(folder, plan, cache),
    ...buildStep(plan, cache),

    from(`mcr.microsoft.com/dotnet/aspnet:${version}`, 'runtime'),
    workdir('/app'),
    env({ PORT: plan.port, ASPNETCORE_URLS: `http://0.0.0.0:${plan.port}` }),
    copy(['/app/out'], '/app/out', { from: 'build', owner: '10001:10001' }),
    ...serve('10001:10001', plan),
  );
}

/** With one project its file is enough to fetch by; a solution refers to all of them at their places. */
function packagesFirst(folder: Folder, plan: BuildPlan, cache: { id: string; target: string }): Instruction[] {
  const projects = folder.files.filter(name => projectFile.test(name));
  const beside = [
    'global.json',
    'nuget.config',
    'NuGet.Config',
    'Directory.Build.props',
    'Directory.Packages.props',
    'packages.lock.json',
  ];
  const [only] = projects;
  const isAlone =
    projects.length === 1 && only !== undefined && !only.includes('/') && isCopyable(only) && !plan.hasOwnInstall;
  const everything = copy(['.'], './');
  if (!isAlone) return [everything, run(plan.installCommand, cache, ...plan.secrets)];
  return [
    copy([only, ...beside.filter(name => folder.has(name))], './'),
    run(`dotnet restore ${only}`, cache),
    everything,
  ];
}
