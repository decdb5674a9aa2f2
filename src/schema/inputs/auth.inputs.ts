import {
  IsBoolean,
  IsEmail,
  IsEnum,
  IsISO8601,
  IsString,
  IsUUID,
  Length,
  Matches,
  MaxLength,
  Min,
} from 'class-validator';
import { ArgsType, Field, ID, Int } from 'type-graphql';
import { TokenScope } from '../../entities/api-token.ts';
import { Role } from '../../entities/user.ts';
import type { OtpProof, Registration } from '../../services/account.service.ts';
import type { ApiTokenWish } from '../../services/api-token.service.ts';
import type { ProfileChange } from '../../services/profile.service.ts';
import { Clearable, Omittable } from './absence.ts';
import { ChangeArgs } from './page.inputs.ts';

const emailRule = { message: 'email must be an e-mail address' };
const MAX_PASSWORD = 1024;

@ArgsType()
export class EmailArgs {
  @Field(() => String)
  @IsEmail({}, emailRule)
  @MaxLength(254)
  email!: string;
}

@ArgsType()
export class RegisterArgs extends EmailArgs implements Registration {
  @Field(() => String, { description: '12 to 256 characters, none of the commonly used ones.' })
  @MaxLength(MAX_PASSWORD)
  password!: string;

  @Field(() => String, { nullable: true })
  @Clearable()
  @Length(1, 100)
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'The token of an invitation to a workspace.' })
  @Clearable()
  @Length(1, 128)
  invitation?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'For the very first account, where registration is by invitation.',
  })
  @Clearable()
  @Length(1, 128)
  setupCode?: string | null;
}

@ArgsType()
export class LoginArgs extends EmailArgs {
  @Field(() => String)
  @MaxLength(MAX_PASSWORD)
  password!: string;
}

@ArgsType()
export class VerifyOtpArgs extends EmailArgs implements OtpProof {
  @Field(() => String, { description: 'The six digits of the mail.' })
  @Matches(/^\d{6}$/, { message: 'code must be six digits' })
  code!: string;

  @Field(() => String, {
    nullable: true,
    description: 'As given by register, or with OTP_REQUIRED and EMAIL_NOT_VERIFIED.',
  })
  @Clearable()
  @Length(1, 128)
  challenge?: string | null;
}

@ArgsType()
export class ResetPasswordArgs {
  @Field(() => String, { description: 'From the link of the mail.' })
  @Length(1, 128)
  token!: string;

  @Field(() => String)
  @MaxLength(MAX_PASSWORD)
  password!: string;
}

@ArgsType()
export class RefreshArgs {
  @Field(() => String)
  @Length(1, 256)
  refreshToken!: string;
}

@ArgsType()
export class UpdateMeArgs implements ProfileChange {
  @Field(() => String, { nullable: true })
  @Clearable()
  @Length(1, 100)
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'A new password; needs currentPassword.' })
  @Omittable()
  @IsString()
  @MaxLength(MAX_PASSWORD)
  password?: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Ask for a mailed code at each sign-in; needs currentPassword.',
  })
  @Omittable()
  @IsBoolean()
  twoFactorEnabled?: boolean;

  @Field(() => String, { nullable: true })
  @Omittable()
  @IsString()
  @MaxLength(MAX_PASSWORD)
  currentPassword?: string;

  @Field(() => Int, { nullable: true, description: 'Refuse with VERSION_MISMATCH unless it is still at this version.' })
  @Omittable()
  @Min(1)
  ifVersion?: number;
}

@ArgsType()
export class CreateApiTokenArgs implements ApiTokenWish {
  @Field(() => String)
  @Length(1, 100)
  name!: string;

  @Field(() => TokenScope)
  @IsEnum(TokenScope)
  scope!: TokenScope;

  @Field(() => String, { nullable: true, description: 'ISO 8601 with a zone; without it the token does not expire.' })
  @Clearable()
  @IsISO8601({ strict: true })
  @Matches(/^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:\d\d))?$/, { message: 'expiresAt must say its zone, such as Z for UTC' })
  expiresAt?: string | null;

  @Field(() => ID, { nullable: true, description: 'Good for this project only.' })
  @Clearable()
  @IsUUID()
  projectId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Good for this environment only.' })
  @Clearable()
  @IsUUID()
  environmentId?: string | null;
}

@ArgsType()
export class StreamTicketArgs {
  @Field(() => String, { description: 'Path of the stream it is for, such as /api/v1/events, without a query string.' })
  @Matches(/^\/api\/v1\/[\w/.-]{1,255}$/, { message: 'path must be the path of a stream, without a query string' })
  path!: string;
}

@ArgsType()
export class CreateInvitationArgs extends EmailArgs {
  @Field(() => Role)
  @IsEnum(Role)
  role!: Role;
}

@ArgsType()
export class UpdateMemberArgs extends ChangeArgs {
  @Field(() => Role)
  @IsEnum(Role)
  role!: Role;
}
