import { NoSchemaIntrospectionCustomRule, specifiedRules, type ValidationRule } from 'graphql';
import { UnconditionalStreamRule } from './unconditional-stream.rule.ts';

/** The rules every GraphQL door validates by. */
export const validationRules = ({ hasIntrospection }: { hasIntrospection: boolean }): ValidationRule[] =>
  hasIntrospection ? [] : [NoSchemaIntrospectionCustomRule];

export const allRules = (options: { hasIntrospection: boolean }): readonly ValidationRule[] => [
  ...specifiedRules,
  UnconditionalStreamRule,
  ...validationRules(options),
];
