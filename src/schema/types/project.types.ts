import { Extensions, Field, ID, ObjectType } from 'type-graphql';
import { DateTime } from '../../entities/date-time.ts';
import { Deployment } from '../../entities/deployment.ts';
import { Environment } from '../../entities/environment.ts';
import { Project } from '../../entities/project.ts';
import { embedded } from './embedded.ts';

@ObjectType({ description: 'A repository at a connected account.', simpleResolvers: true })
export class Repository {
  @Field(() => ID)
  gitProviderId!: string;

  @Field(() => String, { description: "The provider's own id." })
  id!: string;

  @Field(() => String)
  fullName!: string;

  // Not by the simple resolver, which would look for a property of the published name.
  @Field(() => Boolean, { name: 'private', simple: false })
  isPrivate!: boolean;

  @Field(() => String, { nullable: true })
  defaultBranch!: string | null;

  @Field(() => String)
  cloneUrl!: string;

  @Field(() => String, { nullable: true })
  description!: string | null;

  @Field(() => DateTime, { nullable: true })
  pushedAt!: string | null;
}

@ObjectType({ description: 'A branch of a repository.', simpleResolvers: true })
export class Branch {
  @Field(() => String)
  name!: string;

  @Field(() => String)
  sha!: string;

  @Field(() => Boolean)
  isDefault!: boolean;

  @Field(() => Boolean)
  isProtected!: boolean;
}

@ObjectType({ description: 'A finalised project with its first environment.', simpleResolvers: true })
export class FinalizedProject {
  @Field(() => Project)
  @Extensions(embedded)
  project!: Project;

  @Field(() => Environment)
  @Extensions(embedded)
  environment!: Environment;

  @Field(() => Deployment, { nullable: true })
  @Extensions(embedded)
  deployment!: Deployment | null;
}
