import { Extensions, Field, ID, Int, ObjectType } from 'type-graphql';
import { ApiToken } from '../../entities/api-token.ts';
import { DateTime } from '../../entities/date-time.ts';
import { User } from '../../entities/user.ts';
import { embedded } from './embedded.ts';

@ObjectType({ description: 'Where a one-time code went.', simpleResolvers: true })
export class OtpNotice {
  @Field(() => String, { description: 'The address, mostly hidden.' })
  sentTo!: string;

  @Field(() => DateTime)
  expiresAt!: Date;
}

@ObjectType({ description: 'A new account that has yet to prove its address.', simpleResolvers: true })
export class Registered {
  @Field(() => User)
  @Extensions(embedded)
  user!: User;

  @Field(() => String, { description: 'Give it to verify-otp with the code.' })
  challenge!: string;

  @Field(() => OtpNotice)
  otp!: OtpNotice;
}

@ObjectType({ description: 'What a sign-in gives.', simpleResolvers: true })
export class SignedIn {
  @Field(() => String, { description: 'Send it as "Authorization: Bearer …".' })
  accessToken!: string;

  @Field(() => String, { description: 'Always "Bearer".' })
  tokenType!: string;

  @Field(() => Int, { description: 'Seconds until the access token expires.' })
  expiresIn!: number;

  @Field(() => String, { description: 'Good once, for a new pair.' })
  refreshToken!: string;

  @Field(() => User)
  @Extensions(embedded)
  user!: User;
}

@ObjectType({ simpleResolvers: true })
export class ForgotPasswordAnswer {
  @Field(() => Boolean, { description: 'Always true: it does not tell whether there is such an account.' })
  accepted!: boolean;
}

@ObjectType({ simpleResolvers: true })
export class PasswordChanged {
  @Field(() => Boolean)
  passwordChanged!: boolean;
}

@ObjectType({ description: 'A new API token. The token itself is shown here and never again.', simpleResolvers: true })
export class CreatedApiToken extends ApiToken {
  @Field(() => String)
  token!: string;
}

@ObjectType({
  description: 'For browsers, whose EventSource sends no headers: give it as ?ticket=.',
  simpleResolvers: true,
})
export class StreamTicket {
  @Field(() => String)
  ticket!: string;

  @Field(() => String, { description: 'The stream it opens.' })
  path!: string;
}

@ObjectType({ description: 'What was deleted or ended.', simpleResolvers: true })
export class Deleted {
  @Field(() => ID)
  id!: string;
}
