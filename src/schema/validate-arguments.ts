import { validate } from 'class-validator';
import { ArgumentValidationError } from 'type-graphql';

/** What is missing and what is null is told apart by `Omittable` and `Clearable`. */
const OPTIONS = { skipMissingProperties: false, forbidUnknownValues: false, stopAtFirstError: true };

/** Arguments by their own rules. Left to itself TypeGraphQL imports class-validator anew for each of them, in each request. */
export async function validateArguments(value: unknown): Promise<void> {
  const objects = (Array.isArray(value) ? value : [value]).filter(item => typeof item === 'object' && item !== null);
  const faults = await Promise.all(objects.map(item => validate(item, OPTIONS)));
  if (faults.some(found => found.length > 0)) throw new ArgumentValidationError(faults.flat());
}
