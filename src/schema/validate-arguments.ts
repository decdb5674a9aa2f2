import { getMetadataStorage, validate } from 'class-validator';
import { ArgumentValidationError } from 'type-graphql';

/** What is missing and what is null is told apart by `Omittable` and `Clearable`. */
const OPTIONS = { skipMissingProperties: false, forbidUnknownValues: false, stopAtFirstError: true };

/**
 * Arguments by the rules of their class. Most are valid, which `isPlainlyValid` can say at a tenth of the cost;
 * what is wrong with the others class-validator says in its own words.
 */
export async function validateArguments(value: unknown): Promise<void> {
  const objects = (Array.isArray(value) ? value : [value]).filter(isObject);
  const doubtful = objects.filter(object => !isPlainlyValid(object));
  if (doubtful.length === 0) return;
  const faults = await Promise.all(doubtful.map(object => validate(object, OPTIONS)));
  if (faults.some(found => found.length > 0)) throw new ArgumentValidationError(faults.flat());
}

type Values = Record<string, unknown>;
type Rule = (object: Values) => boolean;
type Check = (object: Values, value: unknown) => boolean;
type Class = object['constructor'];

const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null;

const rulesByClass = new Map<Class, readonly Rule[]>();

/** True only if every rule was tried and kept; anything out of the ordinary is doubt. */
export function isPlainlyValid(object: object): boolean {
  const type = object.constructor;
  const rules = rulesByClass.get(type) ?? rulesOf(type);
  return rules.every(keeps => keeps(object as Values));
}

function rulesOf(type: Class): readonly Rule[] {
  const storage = getMetadataStorage();
  const marks = storage.getTargetValidationMetadatas(type, '', false, false);
  const rules = Object.entries(storage.groupByPropertyName(marks)).map(([name, found]) => ruleOf(name, found));
  rulesByClass.set(type, rules);
  return rules;
}

type Mark = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

function ruleOf(name: string, marks: readonly Mark[]): Rule {
  const conditions = marks.filter(({ type }) => type === 'conditionalValidation').map(conditionOf);
  const checks = marks.filter(({ type }) => type === 'customValidation').map(checkOf);
  const isOrdinary = conditions.length + checks.length === marks.length;
  return object => {
    const value = object[name];
    if (!isOrdinary) return false;
    return !conditions.every(applies => applies(object, value)) || checks.every(passes => passes(object, value));
  };
}

const conditionOf = ({ constraints }: Mark): Check => constraints[0];

function checkOf({ constraintCls, constraints, each, propertyName, validateIf }: Mark): Check {
  const [constraint, ...others] = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  if (constraint === undefined || others.length > 0 || each || validateIf) return () => false;
  return (object, value) => {
    const args = { targetName: object.constructor.name, property: propertyName, object, value, constraints };
    // A promise is doubt, too.
    return constraint.instance.validate(value, args) === true;
  };
}
