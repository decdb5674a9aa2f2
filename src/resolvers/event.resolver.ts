import { Args, Ctx, createUnionType, FieldResolver, Resolver, Root, Subscription } from 'type-graphql';
import type { Row } from '../database/rows.ts';
import { Deployment } from '../entities/deployment.ts';
import { Environment } from '../entities/environment.ts';
import { StoredEvent } from '../entities/event.ts';
import { Project } from '../entities/project.ts';
import { Run } from '../entities/run.ts';
import { Server } from '../entities/server.ts';
import { AllowRead } from '../schema/authorize.ts';
import type { Context } from '../schema/context.ts';
import { EventsArgs } from '../schema/inputs/record.inputs.ts';
import { opens } from '../schema/subscribe.ts';

/** What an event can be about. Each kind of resource joins it with the issue that brings it. */
const EventResource = createUnionType({
  name: 'EventResource',
  description: 'The resource of an event, as it is now.',
  types: () => [Deployment, Environment, Project, Run, Server] as const,
  resolveType: value => (value as { __typename?: string }).__typename,
});

@Resolver(() => StoredEvent)
export class EventResolver {
  @AllowRead({ inProject: true })
  @Subscription(() => StoredEvent, {
    description: 'What happens in the workspace, from now on or behind `after`.',
    subscribe: opens(EventsArgs, ({ services, scope }, args) => services.events.open(scope, args)),
  })
  events(@Root() event: StoredEvent, @Args() _: EventsArgs): StoredEvent {
    return event;
  }

  @FieldResolver(() => EventResource, {
    nullable: true,
    description: 'The resource as it is now, null once it is gone.',
  })
  resource(@Root() { resourceType, resourceId }: StoredEvent, @Ctx() { loaders }: Context): Promise<object | null> {
    return loaders.resource(resourceType, resourceId);
  }

  @FieldResolver(() => Project, { nullable: true, description: 'The project it happened in, null once it is gone.' })
  project(@Root() { projectId }: StoredEvent, @Ctx() { loaders }: Context): Promise<Row<Project> | null> {
    return loaders.project(projectId);
  }
}
