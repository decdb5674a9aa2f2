import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';

export enum BuilderKind {
  DOCKERFILE = 'DOCKERFILE',
  GENERATED = 'GENERATED',
  STATIC = 'STATIC',
  COMPOSE = 'COMPOSE',
}
registerEnumType(BuilderKind, {
  name: 'BuilderKind',
  valuesConfig: {
    DOCKERFILE: { description: "The repository's own Dockerfile." },
    GENERATED: { description: 'A Dockerfile made by the analysis.' },
    STATIC: { description: 'A site: built, then served as files.' },
    COMPOSE: { description: "The repository's own compose file." },
  },
});

/** How an application is built and started. What is null follows the analysis. */
@ObjectType({
  description: 'How an application is built and started; what is null follows the analysis.',
  simpleResolvers: true,
})
export class BuildSettings {
  @Field(() => BuilderKind, { nullable: true })
  builder: BuilderKind | null = null;

  @Field(() => String, { nullable: true })
  dockerfile: string | null = null;

  @Field(() => String, { nullable: true })
  composeFile: string | null = null;

  @Field(() => String, { nullable: true })
  installCommand: string | null = null;

  @Field(() => String, { nullable: true })
  buildCommand: string | null = null;

  @Field(() => String, { nullable: true })
  startCommand: string | null = null;

  @Field(() => String, { nullable: true })
  outputDirectory: string | null = null;

  @Field(() => Int, { nullable: true })
  port: number | null = null;

  @Field(() => String, { nullable: true })
  languageVersion: string | null = null;
}
