import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { User } from '../entities/user.ts';
import { AllowPerson, AllowRead, Open } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import {
  EmailArgs,
  LoginArgs,
  RefreshArgs,
  RegisterArgs,
  ResetPasswordArgs,
  UpdateMeArgs,
  VerifyOtpArgs,
} from '../schema/inputs/auth.inputs.ts';
import { Raises } from '../schema/raises.ts';
import { Deleted, ForgotPasswordAnswer, PasswordChanged, Registered, SignedIn } from '../schema/types/auth.types.ts';

@Resolver()
export class AuthResolver {
  @Open()
  @Raises('EMAIL_TAKEN', 'REGISTRATION_CLOSED', 'INVITATION_INVALID')
  @Mutation(() => Registered, {
    nullable: true,
    description: 'Makes an account and mails a code that proves its address.',
  })
  register(@Args() wish: RegisterArgs, @Ctx() { scope, services }: Context): Promise<Registered> {
    return services.accounts.register(scope, wish);
  }

  @Open()
  @Raises('INVALID_CREDENTIALS', 'OTP_REQUIRED', 'EMAIL_NOT_VERIFIED')
  @Mutation(() => SignedIn, { nullable: true, description: 'Signs in.' })
  login(@Args() { email, password }: LoginArgs, @Ctx() { scope, services }: Context): Promise<SignedIn> {
    return services.accounts.login(scope, email, password);
  }

  @Open()
  @Raises('OTP_INVALID', 'INVITATION_INVALID')
  @Mutation(() => SignedIn, { nullable: true, description: 'Confirms a mailed code and signs in.' })
  verifyOtp(@Args() proof: VerifyOtpArgs, @Ctx() { scope, services }: Context): Promise<SignedIn> {
    return services.accounts.verifyOtp(scope, proof);
  }

  @Open()
  @Mutation(() => ForgotPasswordAnswer, {
    nullable: true,
    description: 'Mails a link to choose a new password, if there is such an account.',
  })
  forgotPassword(@Args() { email }: EmailArgs, @Ctx() { scope, services }: Context): Promise<ForgotPasswordAnswer> {
    return services.passwords.forgot(scope, email);
  }

  @Open()
  @Raises('RESET_TOKEN_INVALID')
  @Mutation(() => PasswordChanged, {
    nullable: true,
    description: 'Sets a new password and ends every session and API token of the account.',
  })
  resetPassword(
    @Args() { token, password }: ResetPasswordArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<PasswordChanged> {
    return services.passwords.reset(scope, token, password);
  }

  @Open()
  @Mutation(() => SignedIn, {
    nullable: true,
    description: 'Gives a new pair of tokens for a refresh token, which is used up.',
  })
  refresh(@Args() { refreshToken }: RefreshArgs, @Ctx() { scope, services }: Context): Promise<SignedIn> {
    return services.sessions.refresh(scope, refreshToken);
  }

  @AllowPerson()
  @Raises('NOT_FOUND')
  @Mutation(() => Deleted, { nullable: true, description: 'Ends the session one asks with.' })
  logout(@Ctx() { scope, services }: Context): Promise<Deleted> {
    return services.sessions.end(scope, null);
  }

  @AllowRead({ inProject: true })
  @Query(() => User, { nullable: true, description: "One's own profile." })
  me(@Ctx() { scope, services }: Context): Promise<Row<User>> {
    return services.profile.me(scope);
  }

  @AllowPerson()
  @Mutation(() => User, {
    nullable: true,
    description: "Changes one's own profile; a new password ends the other sessions.",
  })
  updateMe(@Args() change: UpdateMeArgs, @Ctx() { scope, services }: Context): Promise<User> {
    return services.profile.update(scope, change);
  }
}
