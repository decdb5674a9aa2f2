import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLScalarType,
  getNamedType,
  getNullableType,
  isListType,
} from 'graphql';
import { type FieldFault, Invalid, printableName } from '../errors.ts';

export interface Sent {
  params: Record<string, string | undefined>;
  query: URLSearchParams;
  /** Absent where the method carries none. */
  body: Record<string, unknown> | undefined;
}

/**
 * The arguments of a root field from path, query string and body. Each has one place where it may stand;
 * what is in no place is refused by name. Nulls of the body arrive as nulls.
 */
export class ArgumentReader {
  readonly #byName: ReadonlyMap<string, GraphQLArgument>;

  constructor(
    args: readonly GraphQLArgument[],
    private readonly pathNames: ReadonlySet<string>,
    private readonly hasBody: boolean,
    private readonly queryNames: ReadonlySet<string>,
  ) {
    this.#byName = new Map(args.map(arg => [arg.name, arg]));
  }

  read({ params, query, body }: Sent): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    const faults: FieldFault[] = [];
    for (const name of this.pathNames) values[name] = params[name];
    if (query.size > 0)
      for (const name of new Set(query.keys())) this.#readQuery(name, query.getAll(name), values, faults);
    for (const [name, value] of Object.entries(body ?? {})) {
      if (this.#isBodyName(name)) values[name] = value;
      else faults.push(unknownField(name));
    }
    if (faults.length > 0) throw new Invalid(...faults);
    return values;
  }

  accepts(name: string): boolean {
    return this.#byName.has(name);
  }

  #isBodyName(name: string): boolean {
    return this.#byName.has(name) && !this.pathNames.has(name) && !this.queryNames.has(name);
  }

  #readQuery(name: string, texts: string[], values: Record<string, unknown>, faults: FieldFault[]): void {
    const arg = this.#byName.get(name);
    const isHere = !this.pathNames.has(name) && (!this.hasBody || this.queryNames.has(name));
    if (arg === undefined || !isHere) {
      faults.push(unknownField(name));
      return;
    }
    const value = fromText(arg.type, texts);
    if (value === undefined)
      faults.push({
        field: printableName(name),
        message: `must be of type ${String(arg.type).replace('!', '')}, once`,
      });
    else values[name] = value;
  }
}

const unknownField = (name: string): FieldFault => ({ field: printableName(name), message: 'is not a known field' });

/** Lists are given by repeating the name or by commas. Text that is no number or boolean is left to fail by its own rule. */
function fromText(type: GraphQLInputType, texts: string[]): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable))
    return texts.flatMap(text => text.split(',')).map(text => scalar(getNamedType(type).name, text));
  const [text] = texts;
  return texts.length === 1 && text !== undefined ? scalar((nullable as GraphQLScalarType).name, text) : undefined;
}

function scalar(typeName: string, text: string): unknown {
  if (typeName === 'Int' || typeName === 'WholeNumber') return /^-?\d{1,16}$/.test(text) ? Number(text) : undefined;
  if (typeName === 'Boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  return text;
}
