import { fallbackVersion, majorMinor, versionInFile, versionOfTool } from '../declared/versions.ts';
import { buildStep } from '../dockerfile/build-step.ts';
import { aptInstall } from '../dockerfile/debian.ts';
import { copy, dockerfile, env, from, type Instruction, isCopyable, run, workdir } from '../dockerfile/dockerfile.ts';
import { serve } from '../dockerfile/serve.ts';
import { bestOf, type Candidates, candidates, type Found, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { type BuildPlan, noFacts, type Stack } from '../stack.ts';

const currentGo = '1.25';

export const goStack: Stack = {
  language: 'go',

  sign(folder) {
    const manifest = folder.first(['go.mod', 'go.work']);
    if (manifest !== null)
      return found('go', folder.where(manifest), `${manifest} is the manifest of a Go module`, 0.95);
    const program = folder.names.find(name => name.endsWith('.go'));
    return program === undefined ? null : found('go', folder.where(program), `${program} is a Go program`, 0.85);
  },

  describe(folder) {
    const packages = mainPackages(folder);
    const chosen = bestOf(packages) ?? '.';
    return {
      ...noFacts,
      languageVersion: goVersionOf(folder),
      framework: frameworkOf(folder),
      packageManager: [found('go', folder.has('go.mod') ? folder.where('go.mod') : null, 'Go brings its own', 0.95)],
      installCommand: folder.has('go.mod')
        ? [found('go mod download', folder.where('go.mod'), 'fetches what go.mod asks for', 0.95)]
        : [],
      buildCommand: packages.map(({ value, ...rest }) => ({ ...rest, value: buildOf(value) })),
      startCommand: [
        found('./out', packages[0]?.file ?? null, `the program built from ${chosen}`, packages[0]?.confidence ?? 0.6),
      ],
      isStatic: [found(false, null, 'Go programs serve by themselves', 0.95)],
      port: candidates(portInProgram(folder), found(8080, null, 'Go programs usually listen there', 0.6)),
    };
  },

  dockerfile: goDockerfile,
};

const buildOf = (main: string): string => `go build -ldflags="-w -s" -o out${main === '.' ? '' : ` ${main}`}`;

/** The root's own program, else one under cmd, else the member of a workspace that has one. */
function mainPackages(folder: Folder): Candidates<string> {
  const atRoot = folder.names.find(name => name.endsWith('.go') && !name.endsWith('_test.go'));
  const programs = folder.files
    .filter(file => /^(?!.*(?:vendor|_gopath|testdata|example)).*\/main\.go$/.test(file))
    .map(file => file.slice(0, -'/main.go'.length));
  const commands = programs
    .filter(path => path.startsWith('cmd'))
    .sort((a, b) => preference(a) - preference(b) || (a < b ? -1 : 1));
  const others = programs.filter(path => !path.startsWith('cmd'));
  const isProgram = atRoot !== undefined && /^package main\b/m.test(folder.text(atRoot) ?? 'package main');
  return candidates(
    isProgram && found('.', folder.where(atRoot), `${atRoot} is at the root`, 0.95),
    ...[...commands, ...others]
      .filter(path => /^[\w./-]+$/.test(path))
      .slice(0, 20)
      .map(path =>
        found(
          `./${path}`,
          folder.where(`${path}/main.go`),
          `${path} holds a program`,
          programs.length === 1 ? 0.95 : 0.7,
        ),
      ),
  );
}

/** Among several commands the one that serves. */
const preference = (path: string): number => (/\/(?:server|api|web|app|serve|http|main)$|^cmd$/.test(path) ? 0 : 1);

const frameworkModules: readonly (readonly [name: string, module: string])[] = [
  ['gin', 'github.com/gin-gonic/gin'],
  ['fiber', 'github.com/gofiber/fiber'],
  ['echo', 'github.com/labstack/echo'],
  ['chi', 'github.com/go-chi/chi'],
  ['beego', 'github.com/beego/beego'],
  ['buffalo', 'github.com/gobuffalo/buffalo'],
  ['iris', 'github.com/kataras/iris'],
  ['gorilla', 'github.com/gorilla/mux'],
  ['fasthttp', 'github.com/valyala/fasthttp'],
];

function frameworkOf(folder: Folder): Candidates<string> {
  const direct = (folder.text('go.mod') ?? '').split('\n').filter(line => !line.includes('// indirect'));
  const named = frameworkModules.filter(([, module]) => direct.some(line => line.includes(module)));
  return named.map(([name, module]) => found(name, folder.where('go.mod'), `go.mod asks for ${module}`, 0.95));
}

function goVersionOf(folder: Folder): Candidates<string> {
  const file = folder.first(['go.mod', 'go.work']);
  const [, toolchain] = /^toolchain go(\d+\.\d+(?:\.\d+)?)/m.exec(file === null ? '' : (folder.text(file) ?? '')) ?? [];
  const [, minimum] = /^go (\d+\.\d+(?:\.\d+)?)/m.exec(file === null ? '' : (folder.text(file) ?? '')) ?? [];
  const written = toolchain ?? minimum;
  return candidates(
    versionOfTool(folder, 'go', 'golang'),
    versionInFile(folder, '.go-version'),
    file !== null && written !== undefined && found(written, folder.where(file), `${file} names it`, 0.95),
    fallbackVersion(currentGo, 'Go'),
  );
}

function portInProgram(folder: Folder): Found<number> | null {
  for (const [name, text] of folder.texts(/(?:^|\/)(?:main|server|app|web)\.go$/)) {
    const written =
      /(?:ListenAndServe\(|\.Run\(|\.Listen\(|\.Start\(|[Pp]ort\s{0,4}:?=\s{0,4})\s{0,4}"(?:[\w.]{0,64})?:?(\d{4,5})"/.exec(
        text,
      )?.[1];
    if (written !== undefined) return found(Number(written), folder.where(name), 'the program listens there', 0.85);
  }
  return null;
}

/** C code in the program, or a driver that is C: then the runtime needs a C library and the build a compiler. */
const usesC = (folder: Folder): boolean =>
  /mattn\/go-sqlite3|confluent-kafka-go|h2non\/bimg/.test(folder.text('go.mod') ?? '') ||
  [...folder.texts(/\.go$/)].some(([, text]) => /^import "C"/m.test(text));

function goDockerfile(folder: Folder, plan: BuildPlan): string {
  const wanted = /^1\.\d+(?:\.\d+)?$/.exec(plan.languageVersion ?? '')?.[0] ?? currentGo;
  const version = newer(majorMinor(wanted), '1.21') ? majorMinor(wanted) : currentGo;
  const isC = usesC(folder);
  const modules = { id: `${plan.cacheScope}-gomod`, target: '/go/pkg/mod' };
  const compiled = { id: `${plan.cacheScope}-gobuild`, target: '/root/.cache/go-build' };
  return dockerfile(
    from(`golang:${version}-bookworm`, 'build'),
    workdir('/app'),
    env({
      CGO_ENABLED: isC ? '1' : '0',
      GOTOOLCHAIN: 'auto',
      GO111MODULE: folder.has('go.mod') || folder.has('go.work') ? null : 'off',
    }),
    ...modulesFirst(folder, plan, modules),
    copy(['.'], './'),
    ...buildStep(plan, modules, compiled),

    from('debian:bookworm-slim', 'runtime'),
    workdir('/app'),
    aptInstall('ca-certificates', 'tzdata'),
    env({ PORT: plan.port, GIN_MODE: plan.framework === 'gin' ? 'release' : null }),
    copy(['/app'], '/app', { from: 'build', owner: '10001:10001' }),
    ...serve('10001:10001', plan),
  );
}

/** A Go newer than what the tag names is fetched by the toolchain itself; an older one still builds with the newest. */
function newer(version: string, limit: string): boolean {
  return Number(version.split('.')[1]) >= Number(limit.split('.')[1]);
}

function modulesFirst(folder: Folder, plan: BuildPlan, cache: { id: string; target: string }): Instruction[] {
  const isVendored = folder.has('vendor/modules.txt');
  const isWorkspace = folder.has('go.work');
  const replaces = /^\s{0,8}(?:replace\s|\S+\s.{0,200}=>\s{0,4}\.)/m.test(folder.text('go.mod') ?? '');
  const manifests = ['go.mod', 'go.sum'].filter(name => folder.has(name) && isCopyable(name));
  if (plan.installCommand === null || isVendored || isWorkspace || replaces || manifests.length === 0) return [];
  return plan.hasOwnInstall
    ? [copy(['.'], './'), run(plan.installCommand, cache, ...plan.secrets)]
    : [copy(manifests, './'), run(plan.installCommand, cache, ...plan.secrets)];
}
