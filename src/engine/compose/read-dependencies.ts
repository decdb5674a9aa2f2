import { DEPENDENCY_KEYS, heldAgainst } from './compose-keys.ts';
import type { ComposeDependency } from './compose-project.ts';
import type { Spot } from './spot.ts';

const CONDITIONS: Readonly<Record<string, ComposeDependency['condition']>> = {
  service_started: 'STARTED',
  service_healthy: 'HEALTHY',
  service_completed_successfully: 'ENDED_WELL',
};

export function readDependencies(spot: Spot): ComposeDependency[] {
  if (spot.isList) return spot.list().map(each => startedFirst(each.text()));
  return spot.fields().map(([service, field]) => {
    const rules = field.isNull ? new Map<string, Spot>() : heldAgainst(field, DEPENDENCY_KEYS);
    const condition = rules.get('condition')?.text() ?? 'service_started';
    const isOptional = !(rules.get('required')?.flag() ?? true);
    const known = Object.hasOwn(CONDITIONS, condition) ? CONDITIONS[condition] : undefined;
    if (known === undefined) return field.refuse('has a condition that is not known');
    return { service, condition: known, isOptional };
  });
}

export const startedFirst = (service: string): ComposeDependency => ({
  service,
  condition: 'STARTED',
  isOptional: false,
});
