import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isNonNullType,
} from 'graphql';

interface Input {
  name: string;
  type: GraphQLInputType;
  defaultValue?: unknown;
}

/** An id that nothing has. */
export const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';

/** What must be given for a field to be called at all: of the right type, whether or not it means anything. */
export const neededArgs = ({ args }: GraphQLField<unknown, unknown>): Record<string, unknown> => ({
  ...needed(args),
  // Nobody outside is asked: this name never resolves.
  ...(args.some(({ name }) => name === 'baseUrl') ? { baseUrl: 'https://git.invalid' } : {}),
});

const needed = (inputs: readonly Input[]): Record<string, unknown> =>
  Object.fromEntries(
    inputs
      .filter(({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined)
      .map(({ name, type }) => [name, sample(name, type)]),
  );

function sample(name: string, type: GraphQLInputType): unknown {
  const named = getNamedType(type);
  if (String(type).startsWith('[')) return [];
  if (isEnumType(named)) return named.getValues()[0]?.name;
  if (isInputObjectType(named)) return needed(Object.values(named.getFields()));
  if (named.name === 'Int' || named.name === 'WholeNumber') return 1;
  if (named.name === 'Boolean') return true;
  if (named.name === 'ID') return UNKNOWN_ID;
  return SAMPLES[name] ?? 'text';
}

const SAMPLES: Readonly<Record<string, string>> = {
  email: 'nobody@example.org',
  password: 'correct horse battery',
  code: '000000',
  path: '/api/v1/events',
  repository: 'https://git.invalid/x/y.git',
  host: 'server.invalid',
  hostname: 'shop.example.org',
  hostKeyFingerprint: `SHA256:${'A'.repeat(43)}`,
};
