import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { Session } from '../entities/session.ts';
import { AllowPerson } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { StreamTicketArgs } from '../schema/inputs/auth.inputs.ts';
import { ChangeArgs, PageArgs } from '../schema/inputs/page.inputs.ts';
import { Deleted, StreamTicket } from '../schema/types/auth.types.ts';

@Resolver()
export class SessionResolver {
  @AllowPerson()
  @Query(() => [Session], { description: 'Where one is signed in.' })
  sessions(@Args() page: PageArgs, @Ctx() { scope, services }: Context): Promise<Row<Session>[]> {
    return services.sessions.list(scope, page);
  }

  @AllowPerson()
  @Mutation(() => Deleted, { nullable: true, description: 'Signs out somewhere else; its streams close.' })
  deleteSession(@Args() { id, ifVersion }: ChangeArgs, @Ctx() { scope, services }: Context): Promise<Deleted> {
    return services.sessions.end(scope, id, ifVersion);
  }

  @AllowPerson()
  @Mutation(() => StreamTicket, { nullable: true, description: 'A ticket that opens one stream from a browser.' })
  createStreamTicket(@Args() { path }: StreamTicketArgs, @Ctx() { scope, services }: Context): StreamTicket {
    return services.sessions.ticket(scope, path);
  }
}
