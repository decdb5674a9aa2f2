import { AnalysisFailure } from '../../analysis/analysis-failure.ts';
import { parseExactYaml } from '../../analysis/repository/structured-text.ts';
import { DeployFailure } from '../deploy/deploy-failure.ts';
import { chooseWeb } from './choose-web.ts';
import { heldAgainst, type KeyRules, NETWORK_KEYS, PROJECT_KEYS, VOLUME_KEYS } from './compose-keys.ts';
import type { ComposeProject, ComposeService } from './compose-project.ts';
import { parseDotenv } from './dotenv.ts';
import { VOLUME_NAME } from './read-mounts.ts';
import { readService } from './read-service.ts';
import { Reading } from './reading.ts';
import { folderOf } from './repository-paths.ts';
import { Spot } from './spot.ts';
import { startOrder } from './start-order.ts';

export interface ComposeWish {
  /** From the root of the repository. */
  file: string;
  text: string;
  /** Other files of the repository, such as `.env`; null where there is none. */
  open(path: string): string | null;
  variables: Readonly<Record<string, string>>;
  /** The names of those that are secret. */
  secrets: ReadonlySet<string>;
  /** Where a person said that the application listens. */
  port: number | null;
}

const MOST_SERVICES = 30;
const MOST_NESTED = 40;
const SERVICE_NAME = /^[A-Za-z0-9][\w.-]{0,62}$/;
/** What we call things of a deployment ourselves. */
const RESERVED = new Set(['pre-deploy']);

/** Reads a compose file. What would take the server is refused by its place; so is everything that is not known to be harmless. */
export function readCompose({ file, text, open, variables, secrets, port }: ComposeWish): ComposeProject {
  const beside = open([folderOf(file), '.env'].filter(Boolean).join('/'));
  const reading = new Reading(file, { ...parseDotenv(beside ?? ''), ...variables }, secrets, open);
  const services = reading.attempt(() => readServices(new Spot(reading, parse(file, text), '')), []);
  reading.conclude();
  const web = chooseWeb(services, port);
  tellPorts(reading, services, web?.service ?? null);
  return { services, web, warnings: reading.warnings };
}

function parse(file: string, text: string): unknown {
  try {
    return parseExactYaml(text, file, MOST_NESTED);
  } catch (error) {
    if (error instanceof AnalysisFailure) throw new DeployFailure('COMPOSE_REFUSED', error.message, error.hint);
    const [line = ''] = error instanceof Error ? error.message.split('\n') : [];
    throw new DeployFailure('COMPOSE_REFUSED', `${file} is not valid YAML: ${line.slice(0, 200)}`, 'Correct the file.');
  }
}

function readServices(spot: Spot): ComposeService[] {
  if (!spot.isMap) throw new DeployFailure('COMPOSE_REFUSED', `${spot.reading.file} has no services`, null);
  const fields = heldAgainst(spot, PROJECT_KEYS);
  const declared = readDeclared(fields.get('volumes'), VOLUME_KEYS, ['local', '']);
  readDeclared(fields.get('networks'), NETWORK_KEYS, ['bridge', 'overlay', 'default', '']);
  const written = fields.get('services')?.fields() ?? [];
  if (written.length === 0) throw new DeployFailure('COMPOSE_REFUSED', `${spot.reading.file} has no services`, null);
  if (written.length > MOST_SERVICES) spot.refuse(`services are more than ${MOST_SERVICES}`);
  const used = written.filter(([, field]) => !isLeftOut(field));
  const read = used.map(([name, field]) => readService(nameOf(name, field), field, declared));
  const complete = withSharedBuilds(read).map(service => withKnown(service, read, spot.reading));
  return startOrder(withJobs(complete));
}

/** The names that may be used, each held against what may be said of it. */
function readDeclared(spot: Spot | undefined, rules: KeyRules, drivers: readonly string[]): ReadonlySet<string> {
  const fields = spot === undefined || spot.isNull ? [] : spot.fields();
  for (const [name, field] of fields) {
    spot?.reading.attempt(() => {
      if (!VOLUME_NAME.test(name)) field.refuse('must be named by letters, digits, _, . and -');
      const driver = field.isNull ? undefined : heldAgainst(field, rules).get('driver');
      if (driver !== undefined && !driver.isNull && !drivers.includes(driver.text()))
        driver.refuse('would leave what the server gives to containers');
    }, undefined);
  }
  return new Set(fields.map(([name]) => name));
}

function nameOf(name: string, spot: Spot): string {
  if (!SERVICE_NAME.test(name)) spot.refuse('must be named by letters, digits, _, . and -');
  return RESERVED.has(name) ? spot.refuse('has a name that is ours') : name;
}

/** Nobody asks for a profile here, so what needs one is not run. */
function isLeftOut(spot: Spot): boolean {
  const [, profiles] = spot.isMap ? (spot.fields().find(([key]) => key === 'profiles') ?? []) : [];
  if (profiles === undefined || profiles.isEmpty) return false;
  spot.warn('is left out: it belongs to a profile');
  return true;
}

/** One service builds an image and gives it a name, others are started from it by that name. */
function withSharedBuilds(services: readonly ComposeService[]): ComposeService[] {
  const built = services.filter(({ build, image }) => build !== null && image !== null);
  return services.map(service => {
    const same = built.find(({ image }) => image === service.image);
    return service.build === null && same !== undefined ? { ...service, build: same.build } : service;
  });
}

/** Dependencies on what is run here; one on anything else is a mistake, unless the file says that it may be missing. */
function withKnown(service: ComposeService, all: readonly ComposeService[], reading: Reading): ComposeService {
  const isKnown = (name: string) => all.some(each => each.name === name);
  for (const { service: needed, isOptional } of service.dependsOn) {
    if (isKnown(needed) || isOptional) continue;
    const spot = new Spot(reading, null, `services.${service.name}.depends_on`);
    reading.attempt(() => spot.refuse('names a service that is not run here'), undefined);
  }
  return { ...service, dependsOn: service.dependsOn.filter(each => isKnown(each.service)) };
}

function withJobs(services: readonly ComposeService[]): ComposeService[] {
  const waited = services.flatMap(({ dependsOn }) => dependsOn).filter(each => each.condition === 'ENDED_WELL');
  const jobs = new Set(waited.map(({ service }) => service));
  return services.map(service => (jobs.has(service.name) ? { ...service, isJob: true } : service));
}

function tellPorts(reading: Reading, services: readonly ComposeService[], web: string | null): void {
  for (const { name, ports } of services)
    if (ports.length > 0 && name !== web)
      reading.warn(`services.${name}.ports is not published: only the web service is reached from outside`);
}
