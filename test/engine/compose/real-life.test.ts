import { read, refusal } from './read.ts';

/** Files as people write them. */
const named = <T extends { name: string }>(list: readonly T[], name: string): T => {
  const found = list.find(each => each.name === name);
  if (found === undefined) throw new Error(`There is no ${name}`);
  return found;
};

test('a web application and its database', async () => {
  const project = await read(
    `
version: "3.9"
services:
  web:
    build: .
    restart: always
    ports: ["80:3000"]
    environment:
      DATABASE_URL: postgres://app:\${DB_PASSWORD:?set a password}@db:5432/app
      NODE_ENV: \${NODE_ENV:-production}
      GUILD: 123456789012345678
      DEBUG: false
      SESSION_SECRET:
      UNKNOWN:
    depends_on:
      db: {condition: service_healthy}
  db:
    image: postgres:17-alpine
    container_name: my-db
    shm_size: 128mb
    environment:
      - POSTGRES_PASSWORD=\${DB_PASSWORD}
      - POSTGRES_USER=app
    volumes:
      - pgdata:/var/lib/postgresql/data
    healthcheck:
      test: ["CMD-SHELL", "pg_isready -U $$POSTGRES_USER"]
      interval: 5s
      timeout: 1m30s
      retries: 5
volumes:
  pgdata:
`,
    { variables: { DB_PASSWORD: 'p#$s', SESSION_SECRET: 'hush' } },
  );
  expect(project.web).toEqual({ service: 'web', port: 3000 });
  expect(project.services.map(({ name }) => name)).toEqual(['db', 'web']);
  expect(named(project.services, 'web')).toMatchObject({
    build: { context: '', dockerfile: 'Dockerfile', args: {}, target: null },
    environment: {
      DATABASE_URL: 'postgres://app:p#$s@db:5432/app',
      NODE_ENV: 'production',
      GUILD: '123456789012345678',
      DEBUG: 'false',
      SESSION_SECRET: 'hush',
    },
    dependsOn: [{ service: 'db', condition: 'HEALTHY' }],
  });
  expect(named(project.services, 'web').environment).not.toHaveProperty('UNKNOWN');
  expect(named(project.services, 'db')).toMatchObject({
    image: 'postgres:17-alpine',
    environment: { POSTGRES_PASSWORD: 'p#$s', POSTGRES_USER: 'app' },
    volumes: [{ volume: 'pgdata', path: '/var/lib/postgresql/data', isReadOnly: false }],
    healthcheck: {
      test: ['CMD-SHELL', 'pg_isready -U $POSTGRES_USER'],
      intervalMs: 5000,
      timeoutMs: 90_000,
      retries: 5,
    },
    sharedMemoryBytes: 128 * 1024 ** 2,
  });
  expect(project.warnings).toEqual([
    'services.db.container_name is left out: containers are named after their deployment',
  ]);
});

test('a web application, a worker, a job that comes first, and a cache', async () => {
  const project = await read(`
x-app: &app
  build: {context: ./app, args: {VERSION: "1.2"}, target: release}
  env_file: [.env, shared.env]
  networks: [backend]
services:
  worker: {<<: *app, command: node worker.js --queue "high priority", depends_on: [redis, migrate]}
  app:
    <<: *app
    ports: [{target: 8080, published: 80}]
    depends_on: {migrate: {condition: service_completed_successfully}, redis: {}}
    networks: {backend: {aliases: [api]}, default: null}
    deploy: {replicas: 3}
    labels: {traefik.enable: "true"}
  migrate: {<<: *app, command: [node, migrate.js], restart: "no"}
  redis: {image: "redis:7", ports: ["6379:6379"], command: redis-server --save ""}
  shell: {<<: *app, profiles: [debug], privileged: true}
networks:
  backend: {driver: bridge}
`);
  expect(project.web).toEqual({ service: 'app', port: 8080 });
  expect(project.services.map(({ name }) => name)).toEqual(['redis', 'migrate', 'worker', 'app']);
  expect(named(project.services, 'worker').command).toEqual(['node', 'worker.js', '--queue', 'high priority']);
  expect(named(project.services, 'redis').command).toEqual(['redis-server', '--save', '']);
  expect(named(project.services, 'migrate')).toMatchObject({ isJob: true, restart: 'no' });
  expect(named(project.services, 'app')).toMatchObject({
    aliases: ['api'],
    isJob: false,
    build: { context: 'app', args: { VERSION: '1.2' }, target: 'release' },
  });
  expect(project.warnings).toEqual(
    expect.arrayContaining([
      'services.shell is left out: it belongs to a profile',
      expect.stringMatching(/^services\.app\.deploy is left out: one container/),
      expect.stringMatching(/^services\.app\.env_file\[0\] names a file that is not in the repository/),
      'services.redis.ports is not published: only the web service is reached from outside',
    ]),
  );
});

test('a blog and its database, nothing built', async () => {
  const project = await read(`
services:
  wordpress:
    image: wordpress:6
    ports: ["127.0.0.1:8080:80/tcp", "443:443"]
    environment: {WORDPRESS_DB_HOST: db, WORDPRESS_DB_PASSWORD: $PASSWORD}
    volumes:
      - {type: volume, source: html, target: /var/www/html}
      - {type: tmpfs, target: /tmp, tmpfs: {size: 64m}}
    security_opt: ["no-new-privileges:true"]
    privileged: false
    cap_add: []
    read_only: true
    tmpfs: [/run, "/cache:size=10m,mode=1777"]
  db:
    image: docker.io/library/mariadb:11@sha256:${'a'.repeat(64)}
    volumes: [db:/var/lib/mysql, "html:/html:ro"]
    stop_grace_period: 10m
    init: true
volumes: {html: , db: {driver: local}}
`);
  expect(project.web).toEqual({ service: 'wordpress', port: 80 });
  expect(named(project.services, 'wordpress')).toMatchObject({
    build: null,
    volumes: [{ volume: 'html', path: '/var/www/html', isReadOnly: false }],
    tmpfs: { '/tmp': 'size=67108864', '/run': '', '/cache': 'size=10m,mode=1777' },
    isReadOnly: true,
    environment: { WORDPRESS_DB_PASSWORD: '' },
  });
  expect(named(project.services, 'db')).toMatchObject({
    stopSeconds: 120,
    hasInit: true,
    volumes: [{ volume: 'db' }, { volume: 'html', isReadOnly: true }],
  });
  expect(project.warnings).toContain(
    'The variable PASSWORD is not set; services.wordpress.environment.WORDPRESS_DB_PASSWORD has nothing in its place',
  );
});

test('services that are started from the image of another one are built as that one is', async () => {
  const { services } = await read(
    'services: {web: {build: ./app, image: shop, ports: [80]}, worker: {image: shop}, other: {image: "shop:2"}}',
  );
  const build = { context: 'app', dockerfile: 'Dockerfile', dockerfileText: null, args: {}, target: null };
  expect(services.map(service => service.build)).toEqual([build, build, null]);
});

test('files of variables beside it, and a Dockerfile outside of its context', async () => {
  const { services } = await read(
    `services: {web: {build: {context: ./app, dockerfile: ../docker/web.Dockerfile}, image: "x:\${TAG}", env_file: web.env, ports: ["\${PORT}"]}}`,
    {
      file: 'deploy/compose.yaml',
      variables: { TAG: '2' },
      files: {
        'deploy/.env': 'TAG=1\nPORT=4000 # the port\n',
        'deploy/web.env': 'export A="x\\ny" # said\nB=\'$raw\'\nC=1 # 2\nD=\n#E=1\nF=a#b\nnonsense',
        'deploy/docker/web.Dockerfile': 'FROM scratch',
      },
    },
  );
  expect(services[0]).toMatchObject({
    build: { context: 'deploy/app', dockerfile: null, dockerfileText: 'FROM scratch' },
    defaults: { A: 'x\ny', B: '$raw', C: '1', D: '', F: 'a#b' },
    ports: [4000],
  });
});

test.each<[what: string, yaml: string, port: number | null, web: { service: string; port: number } | null]>([
  [
    'whoever listens where the person said',
    'a: {ports: [80]}, b: {expose: [3000]}',
    3000,
    { service: 'b', port: 3000 },
  ],
  ['the one who publishes, if nobody says so', 'a: {ports: [80]}, b: {}', 3000, { service: 'a', port: 3000 }],
  ['web before others', 'a: {ports: [80]}, app: {ports: [81]}, web: {ports: [82]}', null, { service: 'web', port: 82 }],
  ['app before others', 'a: {ports: [80]}, app: {ports: [81]}', null, { service: 'app', port: 81 }],
  [
    'what is built before what is not',
    'a: {ports: [80]}, b: {image: own, build: ., ports: [81]}',
    null,
    { service: 'b', port: 81 },
  ],
  ['not a database', 'db: {ports: ["5432:5432"]}, a: {ports: [8000]}', null, { service: 'a', port: 8000 }],
  ['nobody, if only a database publishes', 'db: {ports: ["5432:5432"]}', null, null],
  ['nobody, if nobody publishes', 'a: {}', null, null],
  ['plain before encrypted', 'a: {ports: ["443:443", "80:80"]}', null, { service: 'a', port: 80 }],
  ['no UDP', 'a: {ports: ["53:53/udp"]}, b: {ports: ["9000-9005:8000-8005"]}', null, { service: 'b', port: 8000 }],
])('the web service: %s', async (_, yaml, port, web) => {
  const services = yaml.replaceAll('{', '{image: x, ');
  expect((await read(`services: {${services}}`, { port })).web).toEqual(web);
});

test('a variable that must be set says so, in the words of the file', async () => {
  const failure = await refusal(`services: {a: {image: "x:\${TAG:?set the tag}"}}`);
  expect(failure.message).toBe('compose.yaml is refused: services.a.image needs the variable TAG (set the tag)');
  expect(failure.hint).toBe('Set the variable TAG of the environment.');
});
