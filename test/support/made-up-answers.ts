import { createHash } from 'node:crypto';
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { DomainError } from '../../src/errors.ts';

/** What the resolvers were asked, in order. */
export interface Asked {
  calls: [field: string, args: unknown][];
}

type Made = Record<string, unknown> & { seed: string };

/** How often, from 0 to 1, an answer comes late, is a refusal, or is null where it must not be. */
export interface Weather {
  late: number;
  refused: number;
  missing: number;
}

/** The schema with other resolvers: what they answer follows from a seed, the weather and the way to the field alone. */
export const withMadeUpAnswers = (schema: GraphQLSchema, seed: string, weather: Weather): GraphQLSchema =>
  mapSchema(schema, {
    [MapperKind.OBJECT_FIELD]: (field, name, typeName) => {
      if (isLeafType(getNamedType(field.type))) return { ...field, resolve: undefined };
      const resolve = (parent: Made | undefined, args: object, { calls }: Asked) => {
        calls.push([`${typeName}.${name}`, args]);
        const place = `${parent?.seed ?? seed}.${name}`;
        const isLate = chance(`${place} late`) < weather.late;
        return isLate
          ? Promise.resolve().then(() => answer(field.type, place, weather))
          : answer(field.type, place, weather);
      };
      return { ...field, resolve };
    },
  });

/** From 0 to 1, the same for the same place. */
const chance = (place: string): number => createHash('sha256').update(place).digest().readUInt32BE() / 2 ** 32;

function answer(type: GraphQLOutputType, place: string, weather: Weather): unknown {
  if (chance(`${place} refused`) < weather.refused) throw new DomainError('NOT_READY', `refused at ${place}`);
  return value(type, place, weather);
}

function value(type: GraphQLOutputType, place: string, weather: Weather): unknown {
  if (chance(`${place} null`) < (isNonNullType(type) ? weather.missing : 0.2)) return null;
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const length = Math.floor(chance(`${place} length`) * 4);
    return Array.from({ length }, (_, index) => value(nullable.ofType, `${place}[${index}]`, weather));
  }
  return isObjectType(nullable) ? object(nullable, place, weather) : leaf(nullable, place);
}

/** Its leaves lie in it, as in a row; what leads further is asked of its resolver. */
function object(type: GraphQLObjectType, place: string, weather: Weather): Made {
  const leaves = Object.values(type.getFields()).filter(field => isLeafType(getNamedType(field.type)));
  return {
    ...Object.fromEntries(leaves.map(field => [field.name, value(field.type, `${place}.${field.name}`, weather)])),
    seed: place,
  };
}

function leaf(type: GraphQLOutputType, place: string): unknown {
  const number = Math.floor(chance(place) * 1000);
  if (isEnumType(type)) return type.getValues()[number % type.getValues().length]?.value;
  const make = LEAVES[String(type)];
  if (make === undefined) throw new Error(`say in made-up-answers.ts what a ${type} can be`);
  return make(number);
}

const LEAVES: Readonly<Record<string, (number: number) => unknown>> = {
  ID: number => `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`,
  String: number => ['', `text ${number}`, 'quotes " and \\ and \n', 'äöü 🚢'][number % 4],
  Int: number => number - 500,
  Float: number => number / 7,
  Boolean: number => number % 2 === 0,
  WholeNumber: number => number * 2 ** 40,
  DateTime: number => (number % 2 === 0 ? new Date(number * 1e9) : new Date(number * 1e9).toISOString()),
  JSONObject: number => ({ number, deep: { list: [null, 'text', number] } }),
  JSONValue: number => [number, `${number}`, true, { number }][number % 4],
};
