import type { ComposeService, ComposeWeb } from './compose-project.ts';

/** Where databases, queues and mail listen: nobody reads a page there, and a published one is for somebody's desk. */
const NOT_THE_WEB = new Set([
  ...[22, 25, 465, 587, 1025, 1433, 1521, 2181, 3306, 33060, 4222, 5432, 5433, 5671, 5672, 6379, 6380, 9042, 9092],
  ...[11211, 26379, 27017, 27018, 27019, 28015],
]);
const TLS = new Set([443, 8443]);
const NAMES = ['web', 'app'];

/** Who answers the world: whoever listens where the person said, or else whoever publishes a port, web and app before others. */
export function chooseWeb(services: readonly ComposeService[], wanted: number | null): ComposeWeb | null {
  const candidates = services.filter(({ isJob }) => !isJob);
  if (wanted !== null) {
    const listening = candidates.filter(({ ports, exposes }) => [...ports, ...exposes].includes(wanted));
    const best =
      likeliest(listening) ?? likeliest(candidates.filter(isPublished)) ?? likeliest(candidates.filter(isBuilt));
    return best === null ? null : { service: best.name, port: wanted };
  }
  const best = likeliest(candidates.filter(isPublished));
  return best === null ? null : { service: best.name, port: webPort(best) };
}

const pagePorts = ({ ports }: ComposeService): number[] => ports.filter(port => !NOT_THE_WEB.has(port));
const isPublished = (service: ComposeService): boolean => pagePorts(service).length > 0;
const isBuilt = ({ build }: ComposeService): boolean => build !== null;

/** The proxy speaks plain HTTP to it. */
function webPort(service: ComposeService): number {
  const ports = pagePorts(service);
  return ports.find(port => !TLS.has(port)) ?? (ports[0] as number);
}

function likeliest(services: readonly ComposeService[]): ComposeService | null {
  const rank = (service: ComposeService): number => {
    const at = NAMES.indexOf(service.name.toLowerCase());
    if (at >= 0) return at;
    return isBuilt(service) ? NAMES.length : NAMES.length + 1;
  };
  return [...services].sort((a, b) => rank(a) - rank(b))[0] ?? null;
}
