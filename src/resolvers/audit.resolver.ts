import { Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { AuditEntry } from '../entities/audit-entry.ts';
import { User } from '../entities/user.ts';
import { AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { IdArgs } from '../schema/inputs/page.inputs.ts';
import { AuditArgs } from '../schema/inputs/record.inputs.ts';

@Resolver(() => AuditEntry)
export class AuditResolver {
  @AllowRead()
  @Query(() => [AuditEntry], { description: 'Who did what in the workspace.' })
  audit(
    @Args() { limit, after, ...filter }: AuditArgs,
    @Ctx() { scope, services }: Context,
  ): Promise<Row<AuditEntry>[]> {
    return services.audit.list(scope, filter, { limit, after });
  }

  @AllowRead()
  @Query(() => AuditEntry, { nullable: true, description: 'One entry of the audit trail.' })
  auditEntry(@Args() { id }: IdArgs, @Ctx() { scope, services }: Context): Promise<Row<AuditEntry>> {
    return services.audit.get(scope, id);
  }

  @FieldResolver(() => User, { nullable: true, description: 'The account, while it exists.' })
  actorUser(@Root() { actor }: AuditEntry, @Ctx() { loaders }: Context): Promise<Row<User> | null> {
    return loaders.user(actor);
  }
}
