import { GraphQLError, Kind, OperationTypeNode, type SelectionSetNode, type ValidationRule } from 'graphql';

const CONDITIONS = new Set(['skip', 'include']);

/** A subscription whose stream is skipped has nothing to open, and graphql-js fails on it: the draft of its specification forbids it too. */
export const UnconditionalStreamRule: ValidationRule = context => {
  const refuse = ({ selections }: SelectionSetNode, seen: ReadonlySet<string>): void => {
    for (const selection of selections) {
      const condition = selection.directives?.find(({ name }) => CONDITIONS.has(name.value));
      if (condition) {
        const message = 'The stream of a subscription can be neither skipped nor included';
        context.reportError(new GraphQLError(message, { nodes: condition }));
      }
      if (selection.kind === Kind.INLINE_FRAGMENT) refuse(selection.selectionSet, seen);
      if (selection.kind === Kind.FRAGMENT_SPREAD && !seen.has(selection.name.value)) {
        const fragment = context.getFragment(selection.name.value);
        if (fragment) refuse(fragment.selectionSet, new Set([...seen, selection.name.value]));
      }
    }
  };
  return {
    OperationDefinition: ({ operation, selectionSet }) => {
      if (operation === OperationTypeNode.SUBSCRIPTION) refuse(selectionSet, new Set());
    },
  };
};
