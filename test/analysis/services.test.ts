import { analyze, type Files } from '../support/memory-snapshot.ts';

const kindsIn = async (files: Files): Promise<[string, string, boolean][]> =>
  (await analyze({ 'index.html': '', ...files })).services.map(({ kind, file, required }) => [kind, file, required]);

describe('services', () => {
  it.each<[string, Files, [string, string, boolean][]]>([
    [
      'a compose image',
      { 'compose.yml': 'services:\n  d:\n    image: docker.io/bitnami/postgresql:16\n' },
      [['POSTGRES', 'compose.yml', true]],
    ],
    [
      'an image whose last name is “server”',
      { 'compose.yml': 'services:\n  d:\n    image: mcr.microsoft.com/mssql/server:2022\n' },
      [['MSSQL', 'compose.yml', true]],
    ],
    ['a variable in a sample', { '.env.example': 'REDIS_HOST=127.0.0.1\n' }, [['REDIS', '.env.example', false]]],
    ['a driver for Node', { 'package.json': { dependencies: { ioredis: '5' } } }, [['REDIS', 'package.json', false]]],
    [
      'a driver for Python',
      { 'requirements.txt': 'psycopg2-binary==2.9\n' },
      [['POSTGRES', 'requirements.txt', false]],
    ],
    ['a gem', { Gemfile: "gem 'mysql2'\n" }, [['MYSQL', 'Gemfile', false]]],
    [
      'a Go module',
      { 'go.mod': 'require (\n\tgo.mongodb.org/mongo-driver v1.1.0\n)\n' },
      [['MONGODB', 'go.mod', false]],
    ],
    [
      'an artifact',
      {
        'pom.xml':
          '<p><dependency><groupId>org.mariadb.jdbc</groupId><artifactId>mariadb-java-client</artifactId></dependency></p>',
      },
      [['MARIADB', 'pom.xml', false]],
    ],
    [
      'a feature of a crate',
      { 'Cargo.toml': '[dependencies]\nsqlx = { version = "0.8", features = ["postgres"] }\n' },
      [['POSTGRES', 'Cargo.toml', false]],
    ],
    [
      'a package of .NET',
      { 'a.csproj': '<Project><ItemGroup><PackageReference Include="Npgsql"/></ItemGroup></Project>' },
      [['POSTGRES', 'a.csproj', false]],
    ],
    [
      'a provider of Prisma',
      { 'prisma/schema.prisma': 'datasource db {\n  provider = "postgresql"\n}' },
      [['POSTGRES', 'prisma/schema.prisma', true]],
    ],
    ['an address in a sample', { '.env.example': 'CACHE=redis://localhost:6379\n' }, [['REDIS', '.env.example', true]]],
    [
      'an adapter of Rails',
      { 'config/database.yml': 'default:\n  adapter: postgresql\n' },
      [['POSTGRES', 'config/database.yml', true]],
    ],
    [
      'an engine of Django',
      { 'shop/settings.py': "ENGINE: 'django.db.backends.mysql'" },
      [['MYSQL', 'shop/settings.py', true]],
    ],
    [
      'an address of Spring',
      { 'src/main/resources/application.properties': 'spring.datasource.url=jdbc:postgresql://db/x\n' },
      [['POSTGRES', 'src/main/resources/application.properties', true]],
    ],
  ])('are known by %s', async (_sign, files, found) => {
    expect(await kindsIn(files)).toEqual(found);
  });

  it('are not known by SQLite, nor by an address in a comment', async () => {
    expect(
      await kindsIn({
        'prisma/schema.prisma': 'provider = "sqlite"',
        '.env.example': '# DB=postgres://x\nDB=file:dev.db\n',
      }),
    ).toEqual([]);
  });

  it('say why', async () => {
    const { services } = await analyze({ 'compose.yml': 'services:\n  cache:\n    image: valkey/valkey:8\n' });
    expect(services[0]).toMatchObject({ kind: 'REDIS', reason: 'the compose service cache runs valkey/valkey:8' });
  });
});
