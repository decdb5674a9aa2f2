import { IsEnum, IsUUID, Length, Matches, Max, Min } from 'class-validator';
import { ArgsType, Field, ID, Int } from 'type-graphql';
import { ServerStatus } from '../../entities/server.ts';
import type { ServerChange, ServerWish } from '../../services/server.service.ts';
import type { TestWish } from '../../services/server-test.service.ts';
import { Clearable, Omittable } from './absence.ts';
import { IsHost, IsPlainText } from './names.ts';
import { ChangeArgs, PageArgs } from './page.inputs.ts';

const LONGEST_KEY = 16_384;
const LONGEST_PASSWORD = 1024;

const IsUsername = () =>
  Matches(/^[A-Za-z_][\w.@-]{0,63}$/, { message: '$property must be the name of an account on the machine' });

const IsFingerprint = () =>
  Matches(/^SHA256:[A-Za-z0-9+/]{43}$/, { message: '$property must be as ssh-keygen -l shows it: SHA256:…' });

const KEY = 'As OpenSSH or OpenSSL writes it. It never comes back.';
const FINGERPRINT = 'Of the host key, as ssh-keygen -l shows it: SHA256:…';

@ArgsType()
export class ServersArgs extends PageArgs {
  @Field(() => ServerStatus, { nullable: true })
  @Omittable()
  @IsEnum(ServerStatus)
  status?: ServerStatus;
}

@ArgsType()
export class CreateServerArgs implements ServerWish {
  @Field(() => String)
  @IsPlainText(100)
  name!: string;

  @Field(() => String, { description: 'A name or an address.' })
  @IsHost()
  host!: string;

  @Field(() => Int, { nullable: true, defaultValue: 22 })
  @Min(1)
  @Max(65_535)
  port: number = 22;

  @Field(() => String, { description: 'root, or a user with sudo.' })
  @IsUsername()
  username!: string;

  @Field(() => String, { nullable: true, description: `${KEY} Without any credential a key pair is made.` })
  @Clearable()
  @Length(1, LONGEST_KEY)
  privateKey?: string | null;

  @Field(() => String, { nullable: true, description: 'Of the private key, where that is encrypted.' })
  @Clearable()
  @Length(1, LONGEST_PASSWORD)
  passphrase?: string | null;

  @Field(() => String, { nullable: true, description: 'Instead of a key; needs hostKeyFingerprint.' })
  @Clearable()
  @Length(1, LONGEST_PASSWORD)
  password?: string | null;

  @Field(() => String, { nullable: true, description: `${FINGERPRINT} Without it the first key seen is kept.` })
  @Clearable()
  @IsFingerprint()
  hostKeyFingerprint?: string | null;
}

@ArgsType()
export class UpdateServerArgs extends ChangeArgs implements ServerChange {
  @Field(() => String, { nullable: true })
  @Omittable()
  @IsPlainText(100)
  name?: string;

  @Field(() => String, { nullable: true })
  @Omittable()
  @IsHost()
  host?: string;

  @Field(() => Int, { nullable: true })
  @Omittable()
  @Min(1)
  @Max(65_535)
  port?: number;

  @Field(() => String, { nullable: true })
  @Omittable()
  @IsUsername()
  username?: string;

  @Field(() => String, { nullable: true, description: `${KEY} Takes the place of the key or password before.` })
  @Omittable()
  @Length(1, LONGEST_KEY)
  privateKey?: string;

  @Field(() => String, { nullable: true, description: 'Of the private key that is sent with it.' })
  @Clearable()
  @Length(1, LONGEST_PASSWORD)
  passphrase?: string | null;

  @Field(() => String, { nullable: true, description: 'Takes the place of the key or password before.' })
  @Omittable()
  @Length(1, LONGEST_PASSWORD)
  password?: string;

  @Field(() => String, { nullable: true, description: `${FINGERPRINT} Takes the place of the known keys.` })
  @Omittable()
  @IsFingerprint()
  hostKeyFingerprint?: string;
}

@ArgsType()
export class TrustServerArgs extends ChangeArgs {
  @Field(() => String, { description: FINGERPRINT })
  @IsFingerprint()
  hostKeyFingerprint!: string;
}

@ArgsType()
export class TestConnectionArgs implements TestWish {
  @Field(() => ID, { nullable: true, description: 'A server of the workspace; or else describe one by the others.' })
  @Clearable()
  @IsUUID()
  serverId?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsHost()
  host?: string | null;

  @Field(() => Int, { nullable: true, description: '22 unless told otherwise.' })
  @Clearable()
  @Min(1)
  @Max(65_535)
  port?: number | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @IsUsername()
  username?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @Length(1, LONGEST_KEY)
  privateKey?: string | null;

  @Field(() => String, { nullable: true })
  @Clearable()
  @Length(1, LONGEST_PASSWORD)
  passphrase?: string | null;

  @Field(() => String, { nullable: true, description: 'Sent only to a machine with the given hostKeyFingerprint.' })
  @Clearable()
  @Length(1, LONGEST_PASSWORD)
  password?: string | null;

  @Field(() => String, { nullable: true, description: FINGERPRINT })
  @Clearable()
  @IsFingerprint()
  hostKeyFingerprint?: string | null;
}
