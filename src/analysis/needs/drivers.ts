import { Folder } from '../repository/folder.ts';
import { objectAt } from '../repository/plain-values.ts';
import { childText, elementsNamed } from '../repository/xml-text.ts';
import { PackageManifest } from '../stacks/node/package-manifest.ts';
import { PythonDependencies } from '../stacks/python/python-dependencies.ts';
import { gemsOf } from '../stacks/ruby/ruby-gems.ts';

/** Every package the manifests below ask for, in lower case, with the file that asks. */
export function driversOf(folder: Folder): ReadonlyMap<string, string> {
  const drivers = new Map<string, string>();
  for (const name of folder.files.filter(file => manifestNames.test(file)).slice(0, 300)) {
    const home = homeOf(folder, name);
    const file = folder.where(name);
    for (const dependency of readers[ending(name)]?.(home, name.slice(name.lastIndexOf('/') + 1)) ?? []) {
      const key = dependency.toLowerCase();
      if (!drivers.has(key)) drivers.set(key, file);
    }
  }
  return drivers;
}

const manifestNames =
  /(?:^|\/)(?:package\.json|requirements[\w.-]*\.txt|pyproject\.toml|Pipfile|Gemfile|composer\.json|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|Cargo\.toml|mix\.exs|[^/]+\.(?:cs|fs)proj)$/;

function homeOf(folder: Folder, name: string): Folder {
  const cut = name.lastIndexOf('/');
  return cut === -1 ? folder : folder.in(name.slice(0, cut));
}

function ending(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  if (/^requirements|^pyproject\.toml$|^Pipfile$/.test(last)) return 'python';
  if (/\.(?:cs|fs)proj$/.test(last)) return 'dotnet';
  return last.startsWith('build.gradle') ? 'gradle' : last;
}

type Reader = (home: Folder, name: string) => Iterable<string>;

const readers: Readonly<Record<string, Reader>> = {
  'package.json': home => new PackageManifest(home).dependencyNames,
  python: home => new PythonDependencies(home).names,
  Gemfile: home => gemsOf(home).keys(),
  'composer.json': home =>
    Object.keys(objectAt(home.json('composer.json'), 'require')).map(name => name.replaceAll('_', '-')),
  'go.mod': home => goModules(home.text('go.mod') ?? ''),
  'pom.xml': home => {
    const pom = home.xml('pom.xml');
    return pom === null
      ? []
      : elementsNamed(pom, 'dependency').map(
          element => `${childText(element, 'groupId')}:${childText(element, 'artifactId')}`,
        );
  },
  gradle: (home, name) =>
    [...(home.text(name) ?? '').matchAll(/['"]([\w.-]{1,100}:[\w.-]{1,100})(?::[^'"\n]{0,100})?['"]/g)].map(
      ([, dependency]) => dependency as string,
    ),
  'Cargo.toml': home => crates(home.toml('Cargo.toml')),
  'mix.exs': home => [...(home.text('mix.exs') ?? '').matchAll(/\{:(\w{1,64}),/g)].map(([, name]) => name as string),
  dotnet: (home, name) => {
    const project = home.xml(name);
    return project === null
      ? []
      : elementsNamed(project, 'PackageReference').map(({ attributes }) => attributes.Include ?? '');
  },
};

/** Without the version that ends some paths: github.com/jackc/pgx/v5. */
function goModules(text: string): string[] {
  const lines = text.split('\n').filter(line => !line.includes('// indirect'));
  return lines.flatMap(
    line => /^\s{0,8}(?:require\s{1,4})?([\w./-]{3,200}) v\d/.exec(line)?.[1]?.replace(/\/v\d+$/, '') ?? [],
  );
}

/** sqlx, diesel and sea-orm are told by a feature which database they speak to. */
function crates(manifest: unknown): string[] {
  const wanted = objectAt(manifest, 'dependencies');
  const features = Object.values(wanted).flatMap(value => {
    const list = objectAt({ value }, 'value').features;
    return Array.isArray(list) ? list.filter(feature => typeof feature === 'string') : [];
  });
  const byFeature: Readonly<Record<string, string>> = {
    postgres: 'tokio-postgres',
    'sqlx-postgres': 'tokio-postgres',
    mysql: 'mysql-async',
    'sqlx-mysql': 'mysql-async',
  };
  return [
    ...Object.keys(wanted).filter(name => name !== 'postgres'),
    ...features.flatMap(feature => byFeature[feature] ?? []),
  ];
}
