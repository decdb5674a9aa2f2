import { CustomCertificate } from '../entities/custom-certificate.ts';
import { Environment, type EnvironmentDomain, SslMode } from '../entities/environment.ts';
import { EventAction, EventKind } from '../entities/event.ts';
import { DomainError, Invalid, NotFound } from '../errors.ts';
import type { UnitOfWork } from '../events/unit-of-work.ts';
import { checkCertificate } from '../security/certificate.ts';
import type { Keyring } from '../security/keyring.ts';
import { Secret } from '../security/secret.ts';
import { refuseDeletedEnvironment } from './deployment-queue.ts';
import type { Scope } from './scope.ts';

export interface DomainSketch {
  hostname: string;
  ssl: SslMode;
  forceHttps?: boolean | null;
  redirectWww?: boolean | null;
}

export interface DomainWish extends DomainSketch {
  certificate?: string | null;
  privateKey?: string | null;
  ifVersion?: number | null;
}

const MOST_NAMES = 20;

/** The names an environment answers by. */
export class EnvironmentDomainService {
  constructor(private readonly keyring: Keyring) {}

  /** Adds a name, or changes how one is served that it has. */
  async set(scope: Scope, id: string, wish: DomainWish): Promise<Environment> {
    return scope.transact(async unit => {
      const environment = await scope.load(unit, Environment, id, wish.ifVersion);
      refuseDeletedEnvironment(environment);
      await this.add(unit, environment, wish, 'hostname');
      await this.#keepCertificate(unit, environment, wish);
      tell(unit, environment);
      return environment;
    });
  }

  async remove(scope: Scope, id: string, hostname: string, ifVersion?: number | null): Promise<{ id: string }> {
    return scope.transact(async unit => {
      const environment = await scope.load(unit, Environment, id, ifVersion);
      refuseDeletedEnvironment(environment);
      const others = environment.domains.filter(domain => domain.hostname !== hostname);
      if (others.length === environment.domains.length) throw new NotFound('Domain');
      environment.domains = others;
      await unit.em.nativeDelete(CustomCertificate, { environmentId: id, hostname });
      tell(unit, environment);
      return { id };
    });
  }

  /** The environment was loaded with a lock, or is new. `field` is where the name came from. */
  async add(unit: UnitOfWork, environment: Environment, wish: DomainSketch, field: string): Promise<void> {
    await refuseTaken(unit, environment, wish.hostname, field);
    const before = environment.domains.find(({ hostname }) => hostname === wish.hostname);
    const domain: EnvironmentDomain = {
      hostname: wish.hostname,
      ssl: wish.ssl,
      forceHttps: wish.forceHttps ?? before?.forceHttps ?? true,
      redirectWww: wish.redirectWww ?? before?.redirectWww ?? false,
    };
    environment.domains = before
      ? environment.domains.map(each => (each === before ? domain : each))
      : [...environment.domains, domain];
    if (environment.domains.length > MOST_NAMES)
      throw new Invalid({ field, message: `would be more than ${MOST_NAMES} names of this environment` });
  }

  /** One that was brought before stays until another one comes, or another way is chosen. */
  async #keepCertificate(unit: UnitOfWork, environment: Environment, wish: DomainWish): Promise<void> {
    const { hostname, ssl, certificate, privateKey } = wish;
    const kept = await unit.em.findOne(CustomCertificate, { environmentId: environment.id, hostname });
    const isGiven = certificate != null || privateKey != null;
    if (ssl !== SslMode.CUSTOM && isGiven)
      throw new Invalid({ field: 'ssl', message: 'must be CUSTOM for a certificate of your own' });
    if (ssl !== SslMode.CUSTOM && kept) unit.em.remove(kept);
    if (ssl !== SslMode.CUSTOM || (kept && !isGiven)) return;
    if (certificate == null) throw new Invalid({ field: 'certificate', message: 'is needed for ssl CUSTOM' });
    if (privateKey == null) throw new Invalid({ field: 'privateKey', message: 'is needed with the certificate' });
    checkCertificate(certificate, privateKey, hostname);
    const row = kept ?? emptyCertificate(unit, environment, hostname);
    row.certificate = certificate;
    row.privateKey = this.keyring.seal(privateKey, keyPlace(row.id));
    if (kept) row.version += 1;
  }
}

function emptyCertificate(unit: UnitOfWork, environment: Environment, hostname: string): CustomCertificate {
  const { id: environmentId, workspaceId, projectId } = environment;
  // A key is sealed to its row, whose id is made with the row.
  const later = { certificate: '', privateKey: new Secret('') };
  return unit.em.create(CustomCertificate, { workspaceId, projectId, environmentId, hostname, ...later });
}

export const keyPlace = (row: string) => ({ table: 'custom_certificate', row, column: 'private_key' });

/** One name leads to one place. */
async function refuseTaken(unit: UnitOfWork, environment: Environment, hostname: string, field: string): Promise<void> {
  const { id, workspaceId } = environment;
  await unit.em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`names ${workspaceId}`]);
  const [taken] = await unit.em.execute<{ name: string }[]>(
    'select name from environment where workspace_id = ? and id <> ? and domains @> ?::jsonb limit 1',
    [workspaceId, id, JSON.stringify([{ hostname }])],
  );
  const fields = [{ field, message: 'leads to another environment' }];
  if (taken) throw new DomainError('NAME_TAKEN', `This name leads to the environment ${taken.name}`, { fields });
}

function tell(unit: UnitOfWork, environment: Environment): void {
  environment.version += 1;
  unit.tell(EventKind.environment_updated, EventAction.UPDATED, environment, environment.projectId);
}
