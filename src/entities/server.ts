import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { clock } from '../clock.ts';
import type { Secret } from '../security/secret.ts';
import { SecretType } from '../security/secret-type.ts';
import { Owned } from './base.ts';
import { DateTime } from './date-time.ts';

export enum ServerStatus {
  PENDING = 'PENDING',
  READY = 'READY',
  UNREACHABLE = 'UNREACHABLE',
  UNTRUSTED = 'UNTRUSTED',
}
registerEnumType(ServerStatus, {
  name: 'ServerStatus',
  valuesConfig: {
    PENDING: { description: 'Nobody could sign in yet.' },
    READY: { description: 'The last look signed in.' },
    UNREACHABLE: { description: 'Two looks in a row failed.' },
    UNTRUSTED: {
      description: 'It showed another host key than before: nothing is done on it until a key is trusted.',
    },
  },
});

@ObjectType({ description: 'A public key by which a machine is known.', simpleResolvers: true })
export class ServerHostKey {
  @Field(() => String, { nullable: true, description: 'Such as ssh-ed25519; null until the machine has shown it.' })
  type!: string | null;

  @Field(() => String, { description: 'As ssh-keygen -l shows it: SHA256:…' })
  fingerprint!: string;
}

@ObjectType({ description: 'What a machine said of itself when it was last looked at.', simpleResolvers: true })
export class ServerFacts {
  @Field(() => String)
  os!: string;

  @Field(() => String)
  kernel!: string;

  @Field(() => String)
  arch!: string;

  @Field(() => Int)
  cpus!: number;

  @Field(() => Int)
  memoryMb!: number;

  @Field(() => Int, { description: 'On the disk that holds the containers.' })
  diskFreeMb!: number;

  @Field(() => String, { nullable: true, description: 'The version of its Docker; null if there is none.' })
  docker!: string | null;
}

@ObjectType({ description: 'How safe a machine was found, in short.', simpleResolvers: true })
export class ServerSecurity {
  @Field(() => Int, { description: '0 to 100.' })
  score!: number;

  @Field(() => DateTime)
  checkedAt!: string;
}

type Optional =
  | ('publicKey' | 'hostKeys' | 'status' | 'statusReason' | 'facts' | 'security' | 'lastSeenAt' | 'updatedAt')
  | ('privateKey' | 'passphrase' | 'password' | 'securityChecks' | 'missedLooks' | 'lookedAt');

@ObjectType({
  description: 'A machine we may reach by SSH. Its private key or password never comes back.',
  simpleResolvers: true,
})
@Entity()
export class Server extends Owned<Optional> {
  @Field(() => String)
  @Property({ type: 'string' })
  name!: string;

  @Field(() => String, { description: 'A name or an address.' })
  @Property({ type: 'string' })
  host!: string;

  @Field(() => Int)
  @Property({ type: 'integer' })
  port!: number;

  @Field(() => String)
  @Property({ type: 'string' })
  username!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The line for authorized_keys on the machine; null where a password is used.',
  })
  @Property({ type: 'text', nullable: true })
  publicKey: string | null = null;

  @Field(() => [ServerHostKey], { description: 'The keys it may show. Empty until it is first seen.' })
  @Property({ type: 'json' })
  hostKeys: ServerHostKey[] = [];

  @Field(() => ServerStatus)
  @Enum({ items: () => ServerStatus, type: 'string' })
  status: ServerStatus = ServerStatus.PENDING;

  @Field(() => String, { nullable: true, description: 'Why it is not READY, as the last look found.' })
  @Property({ type: 'text', nullable: true })
  statusReason: string | null = null;

  @Field(() => ServerFacts, { nullable: true })
  @Property({ type: 'json', nullable: true })
  facts: ServerFacts | null = null;

  @Field(() => ServerSecurity, { nullable: true, description: 'Null until its security was looked at.' })
  @Property({ type: 'json', nullable: true })
  security: ServerSecurity | null = null;

  @Field(() => DateTime, { nullable: true, description: 'When we were last signed in on it.' })
  @Property({ type: 'datetime', length: 3, nullable: true })
  lastSeenAt: Date | null = null;

  @Field(() => DateTime, { description: 'When its configuration was last changed.' })
  @Property({ type: 'datetime', length: 3 })
  updatedAt: Date = clock.now();

  @Property({ type: SecretType, nullable: true, hidden: true })
  privateKey: Secret | null = null;

  @Property({ type: SecretType, nullable: true, hidden: true })
  passphrase: Secret | null = null;

  @Property({ type: SecretType, nullable: true, hidden: true })
  password: Secret | null = null;

  /** The whole of the last look at its security, of which `security` is the short form. */
  @Property({ type: 'json', nullable: true, hidden: true })
  securityChecks: unknown[] | null = null;

  /** Looks in a row that failed: one alone proves nothing. */
  @Property({ type: 'integer', hidden: true })
  missedLooks: number = 0;

  @Property({ type: 'datetime', length: 3, nullable: true, hidden: true })
  lookedAt: Date | null = null;
}
