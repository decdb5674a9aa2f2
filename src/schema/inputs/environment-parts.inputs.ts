import {
  IsBoolean,
  IsEnum,
  IsInt,
  IsNumber,
  Matches,
  Max,
  Min,
  ValidateBy,
  type ValidationArguments,
} from 'class-validator';
import { Field, Float, InputType, Int } from 'type-graphql';
import {
  type EnvironmentService,
  type HealthCheck,
  type Resources,
  ServiceKind,
  SslMode,
} from '../../entities/environment.ts';
import { VariableScope } from '../../entities/variable.ts';
import type { DomainSketch } from '../../services/environment-domain.service.ts';
import { LARGEST_VARIABLE, sizeOf, type VariableWish } from '../../services/variable-store.ts';
import { Clearable } from './absence.ts';

/** Some rules look at what else was given. */
const ownerOf = <T>(args: ValidationArguments | undefined) => (args?.object ?? {}) as Partial<T>;

/** What Linux takes in one string. */
const FitsInProgram = () =>
  ValidateBy({
    name: 'fitsInProgram',
    validator: {
      validate: (value, args) =>
        typeof value === 'string' && sizeOf(ownerOf<VariableInput>(args).key ?? '', value) <= LARGEST_VARIABLE,
      defaultMessage: () => `value must be text, at most ${LARGEST_VARIABLE} bytes together with its key`,
    },
  });

export const IsVariableKey = () =>
  Matches(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/, { message: 'key must be a name such as DATABASE_URL' });

@InputType()
export class VariableInput implements VariableWish {
  @Field(() => String)
  @IsVariableKey()
  key!: string;

  @Field(() => String)
  @FitsInProgram()
  value!: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'A new one is a secret unless told otherwise: its value never comes back.',
  })
  @Clearable()
  @IsBoolean()
  secret?: boolean | null;

  @Field(() => VariableScope, { nullable: true, description: 'RUNTIME unless told otherwise.' })
  @Clearable()
  @IsEnum(VariableScope)
  scope?: VariableScope | null;
}

/** The versions that are kept alive by those who make them, by their first number. */
const VERSIONS: Readonly<Record<ServiceKind, [oldest: number, newest: number]>> = {
  POSTGRES: [13, 18],
  MYSQL: [8, 9],
  MARIADB: [10, 12],
  REDIS: [6, 8],
  MONGODB: [5, 8],
};

const IsServiceVersion = () =>
  ValidateBy({
    name: 'isServiceVersion',
    validator: {
      validate: (value, args) => typeof value === 'string' && isKnown(ownerOf<ServiceInput>(args).kind, value),
      defaultMessage: args => versionRule(ownerOf<ServiceInput>(args).kind),
    },
  });

/** What is wrong with a kind that there is not, its own rule says. */
const rangeOf = (kind: ServiceKind | undefined): [number, number] => VERSIONS[kind as ServiceKind] ?? [0, 99];

function isKnown(kind: ServiceKind | undefined, version: string): boolean {
  const [oldest, newest] = rangeOf(kind);
  const first = Number(/^(\d{1,2})(\.\d{1,3}){0,2}$/.exec(version)?.[1]);
  return first >= oldest && first <= newest;
}

function versionRule(kind: ServiceKind | undefined): string {
  const [oldest, newest] = rangeOf(kind);
  return `version must be a number from ${oldest} to ${newest}, such as ${newest} or ${newest}.1`;
}

@InputType()
export class ServiceInput implements EnvironmentService {
  @Field(() => String)
  @Matches(/^[a-z][a-z0-9-]{0,39}$/, { message: 'name must be lower-case letters, digits and dashes' })
  name!: string;

  @Field(() => ServiceKind)
  @IsEnum(ServiceKind)
  kind!: ServiceKind;

  @Field(() => String, { nullable: true, description: 'Such as 17. Without it, one that is chosen when it starts.' })
  @Clearable()
  @IsServiceVersion()
  version: string | null = null;
}

export const IsHostname = () =>
  Matches(/^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/, {
    message: 'hostname must be a domain name in lower case',
  });

@InputType()
export class DomainInput implements DomainSketch {
  @Field(() => String)
  @IsHostname()
  hostname!: string;

  @Field(() => SslMode, { nullable: true, defaultValue: SslMode.AUTO })
  @IsEnum(SslMode)
  ssl: SslMode = SslMode.AUTO;

  @Field(() => Boolean, { nullable: true, description: 'True unless told otherwise.' })
  @Clearable()
  @IsBoolean()
  forceHttps?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'False unless told otherwise.' })
  @Clearable()
  @IsBoolean()
  redirectWww?: boolean | null;
}

@InputType({ description: 'How a new release proves that it works; null is the default, what is left out stays.' })
export class HealthCheckInput implements Partial<Record<keyof HealthCheck, unknown>> {
  @Field(() => String, { nullable: true, description: 'Answered by 2xx or 3xx, it works.' })
  @Clearable()
  @Matches(/^\/[\x21-\x7e]{0,1023}$/, { message: 'path must begin with / and have no blanks' })
  path?: string | null;

  @Field(() => Int, { nullable: true })
  @Clearable()
  @IsInt()
  @Min(1)
  @Max(60)
  intervalSeconds?: number | null;

  @Field(() => Int, { nullable: true })
  @Clearable()
  @IsInt()
  @Min(1)
  @Max(60)
  timeoutSeconds?: number | null;

  @Field(() => Int, { nullable: true })
  @Clearable()
  @IsInt()
  @Min(1)
  @Max(300)
  retries?: number | null;
}

@InputType({ description: 'What the application may use; null is no limit, what is left out stays.' })
export class ResourcesInput implements Partial<Resources> {
  @Field(() => Float, { nullable: true })
  @Clearable()
  @IsNumber({ maxDecimalPlaces: 3 })
  @Min(0.01)
  @Max(1024)
  cpus?: number | null;

  @Field(() => Int, { nullable: true })
  @Clearable()
  @IsInt()
  @Min(16)
  @Max(16_777_216)
  memoryMb?: number | null;
}
