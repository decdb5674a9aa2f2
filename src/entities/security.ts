import { Extensions, Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from './date-time.ts';

export enum SecurityStatus {
  PASS = 'PASS',
  WARN = 'WARN',
  FAIL = 'FAIL',
  UNKNOWN = 'UNKNOWN',
}
registerEnumType(SecurityStatus, {
  name: 'SecurityStatus',
  valuesConfig: {
    PASS: { description: 'As it should be.' },
    WARN: { description: 'Could be better.' },
    FAIL: { description: 'A door that should be shut is open.' },
    UNKNOWN: { description: 'It could not be read; counts as if it had failed.' },
  },
});

export enum SecuritySeverity {
  CRITICAL = 'CRITICAL',
  HIGH = 'HIGH',
  MEDIUM = 'MEDIUM',
  LOW = 'LOW',
}
registerEnumType(SecuritySeverity, { name: 'SecuritySeverity' });

export enum SecurityGrade {
  A = 'A',
  B = 'B',
  C = 'C',
  D = 'D',
  F = 'F',
}
registerEnumType(SecurityGrade, { name: 'SecurityGrade' });

@ObjectType({ description: 'One thing that was looked at on a server.', simpleResolvers: true })
export class SecurityCheck {
  @Field(() => String, { description: 'Its name, such as ssh-root-login. Hardening is asked for by these.' })
  id!: string;

  @Field(() => String)
  title!: string;

  @Field(() => SecuritySeverity)
  severity!: SecuritySeverity;

  @Field(() => SecurityStatus)
  status!: SecurityStatus;

  @Field(() => String, { description: 'What is there.' })
  found!: string;

  @Field(() => String, { description: 'What should be there.' })
  wanted!: string;

  @Field(() => Boolean, { description: 'Hardening can put it right.' })
  fixable!: boolean;

  @Field(() => String, { nullable: true, description: 'Why hardening leaves it alone, and what to do instead.' })
  hint!: string | null;
}

@ObjectType({ description: 'The last look at the security of a server.', simpleResolvers: true })
export class SecurityLook {
  @Field(() => Int, { description: '0 to 100: what is right, weighed by severity.' })
  score!: number;

  @Field(() => SecurityGrade)
  grade!: SecurityGrade;

  @Field(() => DateTime)
  checkedAt!: string;

  // Their ids are names of checks, not of resources: they are part of the answer everywhere.
  @Extensions({ embedded: true })
  @Field(() => [SecurityCheck])
  checks!: SecurityCheck[];
}
