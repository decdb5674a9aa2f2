import type { ServiceFinding } from '../analysis-result.ts';
import { composeFileOf, composeServices } from '../declared/container-files.ts';
import type { Folder } from '../repository/folder.ts';
import { driversOf } from './drivers.ts';
import { type ServiceSigns, serviceSigns } from './service-signs.ts';

/** Databases and their kin: one finding per kind, the strongest evidence of it first. */
export function servicesOf(folder: Folder): ServiceFinding[] {
  const all = [
    ...inCompose(folder),
    ...inSettings(folder, 'declared'),
    ...amongDrivers(folder),
    ...inSettings(folder, 'hinted'),
  ];
  return serviceSigns.flatMap(({ kind }) => all.find(finding => finding.kind === kind) ?? []);
}

function inCompose(folder: Folder): ServiceFinding[] {
  const file = composeFileOf(folder);
  return composeServices(folder).flatMap(({ name, image }) => {
    const signs = image === null ? undefined : serviceSigns.find(candidate => candidate.image.test(imageName(image)));
    if (signs === undefined || file === null) return [];
    return [
      {
        kind: signs.kind,
        reason: `the compose service ${name} runs ${image}`.slice(0, 200),
        file: folder.where(file),
        required: true,
      },
    ];
  });
}

/** "docker.io/bitnami/postgresql:16@sha256:…" is called postgresql; a plain "server" takes the name before it along. */
function imageName(image: string): string {
  const names =
    image
      .slice(0, 300)
      .split('@')[0]
      ?.replace(/:[^/]*$/, '')
      .split('/') ?? [];
  const last = names.at(-1) ?? '';
  return last === 'server' ? `${names.at(-2)}-server` : last;
}

const settingFiles =
  /(?:^|\/)(?:\.env[\w.-]*|env\.(?:example|sample)|schema\.prisma|drizzle\.config\.[cm]?[jt]s|database\.yml|settings(?:\/\w+)?\.py|application[\w-]*\.(?:properties|ya?ml)|appsettings\.json|doctrine\.yaml|app\.json|render\.yaml|(?:docker-)?compose[\w.-]*\.ya?ml|config\.exs|runtime\.exs|config\/database\.[jt]s)$/;

function inSettings(folder: Folder, by: 'declared' | 'hinted'): ServiceFinding[] {
  const found: ServiceFinding[] = [];
  for (const [name, text] of folder.texts(settingFiles)) {
    const plain = withoutCommentLines(text);
    const named = serviceSigns.filter(signs => signs[by].test(plain));
    found.push(...named.map(signs => namedIn(folder, name, signs, by)));
  }
  return found;
}

const namedIn = (folder: Folder, name: string, { kind }: ServiceSigns, by: 'declared' | 'hinted'): ServiceFinding => ({
  kind,
  reason: by === 'declared' ? `${name} names it` : `${name} has a variable for it`,
  file: folder.where(name),
  required: by === 'declared',
});

/** An address in a comment is an example of what could be. */
const withoutCommentLines = (text: string): string =>
  text
    .split('\n')
    .filter(line => !/^\s{0,40}(?:#|\/\/|;)/.test(line))
    .join('\n');

function amongDrivers(folder: Folder): ServiceFinding[] {
  const drivers = driversOf(folder);
  return serviceSigns.flatMap(({ kind, drivers: known }) => {
    const driver = known.find(name => drivers.has(name));
    if (driver === undefined) return [];
    return [
      { kind, reason: `it depends on the driver ${driver}`, file: drivers.get(driver) as string, required: false },
    ];
  });
}
