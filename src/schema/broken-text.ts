import { type FieldFault, Invalid, printableName } from '../errors.ts';

/** No database keeps NUL characters or halves of a surrogate pair: refused here, for every argument there is and will be. */
export function refuseBrokenText(args: object): void {
  const faults = faultsIn(args, '');
  if (faults.length > 0) throw new Invalid(...faults);
}

function faultsIn(value: unknown, path: string): FieldFault[] {
  if (typeof value === 'string') {
    const isWhole = !value.includes('\0') && value.isWellFormed();
    return isWhole ? [] : [{ field: printableName(path), message: 'must be text without NUL or broken characters' }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => faultsIn(part, path === '' ? name : `${path}.${name}`));
}
