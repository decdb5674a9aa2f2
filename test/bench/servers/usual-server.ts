/**
 * The same stack as its guides write it: Apollo with TypeGraphQL on MikroORM's entities, SOFA mounted as it comes. Each
 * request verifies its token and loads its account by the entity manager, each list is an `em.find`.
 */
import 'reflect-metadata';
import { ApolloServer } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import { Entity, PrimaryKey, Property, ReflectMetadataProvider } from '@mikro-orm/decorators/legacy';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import express, { type Request } from 'express';
import jwt from 'jsonwebtoken';
import { useSofa } from 'sofa-api';
import { Arg, buildSchema, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';

@Entity({ tableName: 'users' })
class Account {
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'uuid' })
  workspaceId!: string;

  @Property({ type: 'string' })
  email!: string;

  @Property({ type: 'string' })
  role!: string;
}

@ObjectType()
@Entity({ tableName: 'audit_entry' })
class AuditEntry {
  @Field(() => ID)
  @PrimaryKey({ type: 'uuid' })
  id!: string;

  @Property({ type: 'uuid' })
  workspaceId!: string;

  @Field(() => Date)
  @Property({ type: 'datetime' })
  at!: Date;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  actor!: string | null;

  @Field(() => ID, { nullable: true })
  @Property({ type: 'uuid', nullable: true })
  tokenId!: string | null;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  ip!: string | null;

  @Field(() => String)
  @Property({ type: 'string' })
  action!: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  resource!: string | null;

  @Field(() => String)
  @Property({ type: 'string' })
  outcome!: string;

  @Field(() => String, { nullable: true })
  @Property({ type: 'string', nullable: true })
  requestId!: string | null;
}

interface Context {
  em: EntityManager;
  account: Account;
}

@Resolver(() => AuditEntry)
class AuditResolver {
  @Query(() => [AuditEntry])
  audit(
    @Arg('limit', () => Int, { nullable: true, defaultValue: 50 }) limit: number,
    @Ctx() { em, account }: Context,
  ): Promise<AuditEntry[]> {
    return em.find(AuditEntry, { workspaceId: account.workspaceId }, { orderBy: { id: 'desc' }, limit });
  }

  @Query(() => AuditEntry, { nullable: true })
  auditEntry(@Arg('id', () => ID) id: string, @Ctx() { em, account }: Context): Promise<AuditEntry | null> {
    return em.findOne(AuditEntry, { id, workspaceId: account.workspaceId });
  }
}

const { DATABASE_URL, JWT_SECRET = '', PORT } = process.env;

const orm = await MikroORM.init({
  entities: [Account, AuditEntry],
  dbName: /\/([^/?]+)(\?|$)/.exec(DATABASE_URL ?? '')?.[1] ?? '',
  driverOptions: { connectionString: DATABASE_URL, max: 10 },
  metadataProvider: ReflectMetadataProvider,
  metadataCache: { enabled: false },
});
const schema = await buildSchema({ resolvers: [AuditResolver] });

async function contextOf(authorization: string | undefined): Promise<Context> {
  const { sub } = jwt.verify((authorization ?? '').replace('Bearer ', ''), JWT_SECRET) as { sub: string };
  const em = orm.em.fork();
  return { em, account: await em.findOneOrFail(Account, sub) };
}

const apollo = new ApolloServer<Context>({ schema });
await apollo.start();
const app = express();
app.use(
  '/graphql',
  express.json(),
  expressMiddleware(apollo, { context: ({ req }) => contextOf(req.headers.authorization) }),
);
app.use(
  '/api/v1',
  useSofa({
    basePath: '/api/v1',
    schema,
    routes: {
      'Query.audit': { method: 'GET', path: '/audit' },
      'Query.auditEntry': { method: 'GET', path: '/audit/:id' },
    },
    context: ({ req }: { req: Request }) => contextOf(req.headers.authorization),
  }),
);
app.listen(Number(PORT), '127.0.0.1');
