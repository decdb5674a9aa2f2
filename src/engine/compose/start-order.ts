import type { ComposeService } from './compose-project.ts';
import { ComposeRefusal } from './compose-refusal.ts';

/** Each service behind those it depends on, else as in the file. */
export function startOrder(services: readonly ComposeService[]): ComposeService[] {
  const known = new Map(services.map(service => [service.name, service]));
  const ordered = new Set<ComposeService>();
  const visit = (service: ComposeService, above: readonly string[]): void => {
    if (ordered.has(service)) return;
    if (above.includes(service.name))
      throw new ComposeRefusal(`services.${service.name}.depends_on`, 'leads back to the service itself');
    for (const { service: name } of service.dependsOn) {
      const needed = known.get(name);
      if (needed !== undefined) visit(needed, [...above, service.name]);
    }
    ordered.add(service);
  };
  for (const service of services) visit(service, []);
  return [...ordered];
}
