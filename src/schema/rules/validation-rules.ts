import { NoSchemaIntrospectionCustomRule, specifiedRules, type ValidationRule } from 'graphql';

/** The rules every GraphQL door validates by. */
export const validationRules = ({ hasIntrospection }: { hasIntrospection: boolean }): ValidationRule[] =>
  hasIntrospection ? [] : [NoSchemaIntrospectionCustomRule];

export const allRules = (options: { hasIntrospection: boolean }): readonly ValidationRule[] => [
  ...specifiedRules,
  ...validationRules(options),
];
