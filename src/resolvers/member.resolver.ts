import { Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { TokenScope } from '../entities/api-token.ts';
import { Invitation } from '../entities/invitation.ts';
import { Role, User } from '../entities/user.ts';
import { Allow, AllowOwner } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { CreateInvitationArgs, UpdateMemberArgs } from '../schema/inputs/auth.inputs.ts';
import { ChangeArgs, IdArgs, PageArgs } from '../schema/inputs/page.inputs.ts';
import { Raises } from '../schema/raises.ts';
import { Deleted } from '../schema/types/auth.types.ts';

@Resolver(() => Invitation)
export class MemberResolver {
  @Allow(Role.OWNER, TokenScope.read)
  @Query(() => [User], { description: 'Who is in the workspace.' })
  members(@Args() page: PageArgs, @Ctx() { scope, services }: Context): Promise<Row<User>[]> {
    return services.members.list(scope, page);
  }

  @Allow(Role.OWNER, TokenScope.read)
  @Query(() => User, { nullable: true, description: 'One member of the workspace.' })
  member(@Args() { id }: IdArgs, @Ctx() { scope, services }: Context): Promise<Row<User>> {
    return services.members.get(scope, id);
  }

  @AllowOwner()
  @Raises('LAST_OWNER')
  @Mutation(() => User, { nullable: true, description: 'Gives a member another role.' })
  updateMember(@Args() { id, role, ifVersion }: UpdateMemberArgs, @Ctx() { scope, services }: Context): Promise<User> {
    return services.members.update(scope, id, role, ifVersion);
  }

  @AllowOwner()
  @Raises('LAST_OWNER')
  @Mutation(() => Deleted, { nullable: true, description: 'Removes a member, and with it the account.' })
  deleteMember(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Deleted> {
    return services.members.remove(scope, id, ifVersion);
  }

  @Allow(Role.OWNER, TokenScope.read)
  @Query(() => [Invitation], { description: 'Invitations nobody has used yet.' })
  invitations(@Args() page: PageArgs, @Ctx() { scope, services }: Context): Promise<Row<Invitation>[]> {
    return services.members.invitations(scope, page);
  }

  @AllowOwner()
  @Raises('EMAIL_TAKEN')
  @Mutation(() => Invitation, {
    nullable: true,
    description: 'Invites somebody by mail; replaces an open invitation of theirs.',
  })
  createInvitation(
    @Args() { email, role }: CreateInvitationArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Invitation> {
    return services.members.invite(scope, email, role);
  }

  @AllowOwner()
  @Mutation(() => Deleted, { nullable: true, description: 'Withdraws an invitation.' })
  deleteInvitation(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Deleted> {
    return services.members.withdraw(scope, id, ifVersion);
  }

  @FieldResolver(() => User, { nullable: true })
  invitedBy(@Root() { invitedById }: Invitation, @Ctx() { loaders }: Context): Promise<Row<User> | null> {
    return loaders.user(invitedById);
  }
}
