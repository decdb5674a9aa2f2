import { fallbackVersion, firstVersion, majorMinor, versionInFile, versionOfTool } from '../declared/versions.ts';
import { buildStep } from '../dockerfile/build-step.ts';
import { addUser, aptInstall } from '../dockerfile/debian.ts';
import {
  type CacheMount,
  copy,
  dockerfile,
  env,
  from,
  type Instruction,
  run,
  workdir,
} from '../dockerfile/dockerfile.ts';
import { serve } from '../dockerfile/serve.ts';
import { bestOf, type Candidates, candidates, type Found, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { listAt, objectAt, textAt, textsAt, valueAt } from '../repository/plain-values.ts';
import { type BuildPlan, noFacts, type Stack } from '../stack.ts';
import { folderMatcher } from './node/workspace.ts';

const currentRust = '1';

export const rustStack: Stack = {
  language: 'rust',

  sign: folder =>
    folder.has('Cargo.toml')
      ? found('rust', folder.where('Cargo.toml'), 'Cargo.toml is the manifest of a Rust crate', 0.93)
      : null,

  describe(folder) {
    const binaries = binariesOf(folder);
    const lock = folder.has('Cargo.lock') ? ' --locked' : '';
    return {
      ...noFacts,
      languageVersion: rustVersionOf(folder),
      framework: frameworkOf(folder),
      packageManager: [found('cargo', folder.where('Cargo.toml'), 'Cargo is the only one', 0.98)],
      buildCommand: binaries.map(({ value, ...rest }) => ({
        ...rest,
        value: `cargo build --release${lock} --bin ${value}`,
      })),
      startCommand: binaries.map(({ value, ...rest }) => ({ ...rest, value: `./bin/${value}` })),
      isStatic: [found(false, null, 'Rust programs serve by themselves', 0.9)],
      port: candidates(
        portInProgram(folder),
        found(bestOf(frameworkOf(folder)) === 'rocket' ? 8000 : 8080, null, 'the usual port', 0.6),
      ),
    };
  },

  dockerfile: rustDockerfile,
};

/** The program meant by default, those declared, those that have the usual file; in a workspace those of its members. */
function binariesOf(folder: Folder): Candidates<string> {
  const crates = [folder, ...membersOf(folder)];
  const preferred = crates.map(crate =>
    named(crate, textAt(crate.toml('Cargo.toml'), 'package', 'default-run'), 'default-run', 0.97),
  );
  const all = crates.flatMap(crate => binariesIn(crate));
  const isOnly = all.length === 1;
  return candidates(...preferred, ...all.map(binary => ({ ...binary, confidence: isOnly ? 0.95 : 0.75 })));
}

function binariesIn(crate: Folder): Found<string>[] {
  const manifest = crate.toml('Cargo.toml');
  const declared = listAt(manifest, 'bin').map(bin => named(crate, textAt(bin, 'name'), '[[bin]]', 0.9));
  const main = crate.has('src/main.rs') ? named(crate, textAt(manifest, 'package', 'name'), 'src/main.rs', 0.9) : null;
  const others = crate.files
    .flatMap(file => /^src\/bin\/([\w-]+)(?:\.rs|\/main\.rs)$/.exec(file)?.[1] ?? [])
    .map(name => named(crate, name, 'src/bin', 0.8));
  return [...candidates(main, ...declared, ...others)];
}

function named(crate: Folder, name: string | null, by: string, confidence: number): Found<string> | null {
  const isPlain = /^[A-Za-z0-9_][\w-]{0,100}$/.test(name ?? '');
  return isPlain ? found(name as string, crate.where('Cargo.toml'), `a program by ${by}`, confidence) : null;
}

function membersOf(folder: Folder): Folder[] {
  const workspace = objectAt(folder.toml('Cargo.toml'), 'workspace');
  const patterns = [...textsAt(workspace, 'default-members'), ...textsAt(workspace, 'members')];
  const excluded = textsAt(workspace, 'exclude').map(folderMatcher);
  const homes = folder.files
    .filter(file => file.endsWith('/Cargo.toml'))
    .map(file => file.slice(0, -'/Cargo.toml'.length));
  const chosen = patterns.slice(0, 50).flatMap(pattern => homes.filter(folderMatcher(pattern)));
  return [...new Set(chosen)].filter(path => !excluded.some(matches => matches(path))).map(path => folder.in(path));
}

const frameworkCrates = ['rocket', 'actix-web', 'axum', 'warp', 'poem', 'salvo', 'tide', 'leptos', 'loco-rs'];

function frameworkOf(folder: Folder): Candidates<string> {
  const crates = [folder, ...membersOf(folder)];
  return candidates(
    ...frameworkCrates.flatMap(name =>
      crates.flatMap(crate => {
        const manifest = crate.toml('Cargo.toml');
        const wanted = { ...objectAt(manifest, 'dependencies'), ...objectAt(manifest, 'workspace', 'dependencies') };
        const isWanted = Object.hasOwn(wanted, name);
        return isWanted
          ? [found(name === 'loco-rs' ? 'loco' : name, crate.where('Cargo.toml'), `Cargo.toml asks for ${name}`, 0.95)]
          : [];
      }),
    ),
  );
}

function rustVersionOf(folder: Folder): Candidates<string> {
  const channel = folder.has('rust-toolchain.toml')
    ? textAt(folder.toml('rust-toolchain.toml'), 'toolchain', 'channel')
    : null;
  const pinned = firstVersion(channel);
  return candidates(
    pinned === null ? null : found(pinned, folder.where('rust-toolchain.toml'), 'rust-toolchain.toml pins it', 0.97),
    versionInFile(folder, 'rust-toolchain'),
    versionOfTool(folder, 'rust'),
    versionInFile(folder, '.rust-version') ?? versionInFile(folder, 'rust-version.txt'),
    fallbackVersion(currentRust, 'Rust'),
  );
}

function portInProgram(folder: Folder): Found<number> | null {
  for (const [name, text] of folder.texts(/(?:^|\/)src\/(?:main|server|app)\.rs$/)) {
    const written =
      /"(?:0\.0\.0\.0|127\.0\.0\.1|localhost|\[::\]):(\d{4,5})"/.exec(text)?.[1] ??
      /\(\[?(?:\d{1,3},\s?){3}\d{1,3}\]?,\s{0,4}(\d{4,5})\)/.exec(text)?.[1];
    if (written !== undefined) return found(Number(written), folder.where(name), 'the program listens there', 0.85);
  }
  return null;
}

function rustDockerfile(folder: Folder, plan: BuildPlan): string {
  const version = /^1(?:\.\d+){0,2}$/.exec(plan.languageVersion ?? '')?.[0] ?? currentRust;
  const cache = (name: string, target: string) => ({ id: `${plan.cacheScope}-${name}`, target });
  const caches = [
    cache('cargo', '/usr/local/cargo/registry'),
    cache('cargogit', '/usr/local/cargo/git'),
    cache('target', '/app/target'),
  ];
  // What is in a cache mount is not in the image: the programs are taken out before the stage ends.
  const keep = 'mkdir -p /app/bin && find target/release -maxdepth 1 -type f -perm -u+x -exec cp {} /app/bin/ +';
  return dockerfile(
    from(`rust:${majorMinor(version)}-bookworm`, 'build'),
    workdir('/app'),
    ...cratesFirst(folder, caches.slice(0, 2)),
    copy(['.'], './'),
    ...buildStep({ ...plan, buildCommand: plan.buildCommand ?? 'cargo build --release' }, ...caches),
    run(keep, ...caches.slice(2)),

    from('debian:bookworm-slim', 'runtime'),
    workdir('/app'),
    aptInstall('ca-certificates', 'libssl3', 'libpq5'),
    addUser(),
    env({ PORT: plan.port, ROCKET_ADDRESS: '0.0.0.0', ROCKET_PORT: plan.port }),
    copy(['/app'], '/app', { from: 'build', owner: 'app:app' }),
    ...serve('app', plan),
  );
}

/** Cargo reads no manifest without its sources, so a lone crate with nothing unusual gets empty ones for the while. */
function cratesFirst(folder: Folder, caches: readonly CacheMount[]): Instruction[] {
  const manifest = folder.toml('Cargo.toml');
  const unusual = ['workspace', 'lib', 'bin', 'example', 'bench', 'test', 'patch'].some(
    table => valueAt(manifest, table) !== undefined,
  );
  const hasPaths = Object.values(objectAt(manifest, 'dependencies')).some(wanted => textAt(wanted, 'path') !== null);
  const isPlain = !unusual && !hasPaths && textAt(manifest, 'package', 'build') === null && !folder.has('build.rs');
  if (!isPlain || !folder.has('Cargo.lock') || !folder.has('src/main.rs')) return [];
  return [
    copy(['Cargo.toml', 'Cargo.lock'], './'),
    run('mkdir src && touch src/main.rs && cargo fetch --locked && rm -r src', ...caches),
  ];
}
