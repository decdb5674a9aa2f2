/** How each kind of service is known: the image it runs from, its drivers, and the words that settings name it by. */
export interface ServiceSigns {
  readonly kind: string;
  /** The last name of an image, without registry and tag. */
  readonly image: RegExp;
  /** Packages of any ecosystem; each is compared as a whole. */
  readonly drivers: readonly string[];
  /** In settings: a provider or an address. */
  readonly declared: RegExp;
  /** In settings: a variable of its own, which a template may carry without anybody using it. */
  readonly hinted: RegExp;
}

export const serviceSigns: readonly ServiceSigns[] = [
  {
    kind: 'POSTGRES',
    image: /^(?:postgres|postgresql|postgis|timescaledb|timescaledb-ha|pgvector|supabase-postgres|cockroach)$/,
    drivers: [
      ...[
        'pg',
        'pg-promise',
        'postgres',
        '@neondatabase/serverless',
        '@vercel/postgres',
        '@prisma/adapter-pg',
        'slonik',
      ],
      ...['psycopg2', 'psycopg2-binary', 'psycopg', 'psycopg-binary', 'asyncpg', 'pg8000', 'aiopg', 'psycopg[binary]'],
      ...['ext-pgsql', 'ext-pdo-pgsql', 'github.com/lib/pq', 'github.com/jackc/pgx', 'gorm.io/driver/postgres'],
      ...['org.postgresql:postgresql', 'tokio-postgres', 'postgrex', 'npgsql', 'npgsql.entityframeworkcore.postgresql'],
      'bun/driver/pgdriver',
    ],
    declared:
      /\bpostgres(?:ql)?(?:\+\w{1,20})?:\/\/|jdbc:postgresql:|provider\s{0,4}=\s{0,4}"(?:postgresql|postgres|cockroachdb)"|dialect\s{0,4}:\s{0,4}['"]postgresql['"]|adapter:\s{0,4}postgresql|backends\.postgresql|\bDB_CONNECTION=pgsql|\bDATABASE_CLIENT=postgres|heroku-postgresql|Ecto\.Adapters\.Postgres/,
    hinted: /\bPOSTGRES_(?:USER|DB|PASSWORD|HOST|URL)\b/,
  },
  {
    kind: 'MYSQL',
    image: /^(?:mysql|mysql-server|percona|percona-server|vitess)$/,
    drivers: [
      ...[
        'mysql',
        'mysql2',
        '@planetscale/database',
        'mysqlclient',
        'pymysql',
        'aiomysql',
        'mysql-connector-python',
        'trilogy',
      ],
      ...[
        'ext-mysqli',
        'ext-pdo-mysql',
        'github.com/go-sql-driver/mysql',
        'gorm.io/driver/mysql',
        'mysql-async',
        'myxql',
      ],
      ...[
        'mysql:mysql-connector-java',
        'com.mysql:mysql-connector-j',
        'mysql.data',
        'mysqlconnector',
        'mysql.entityframeworkcore',
      ],
      'pomelo.entityframeworkcore.mysql',
    ],
    declared:
      /\bmysql2?(?:\+\w{1,20})?:\/\/|jdbc:mysql:|provider\s{0,4}=\s{0,4}"mysql"|dialect\s{0,4}:\s{0,4}['"]mysql['"]|adapter:\s{0,4}(?:mysql2|trilogy)|backends\.mysql|\bDB_CONNECTION=mysql|\bDATABASE_CLIENT=mysql|Ecto\.Adapters\.MyXQL/,
    hinted: /\bMYSQL_(?:USER|DATABASE|PASSWORD|HOST|ROOT_PASSWORD|ROOT_PASSWORD_FILE|URL)\b/,
  },
  {
    kind: 'MARIADB',
    image: /^mariadb$/,
    drivers: ['mariadb', 'org.mariadb.jdbc:mariadb-java-client'],
    declared: /\bmariadb(?:\+\w{1,20})?:\/\/|jdbc:mariadb:|\bDB_CONNECTION=mariadb/,
    hinted: /\bMARIADB_(?:USER|DATABASE|PASSWORD|ROOT_PASSWORD)\b/,
  },
  {
    kind: 'REDIS',
    image: /^(?:redis|redis-stack|redis-stack-server|redismod|valkey|keydb|dragonfly)$/,
    drivers: [
      ...[
        'redis',
        'ioredis',
        'bullmq',
        'bull',
        'bee-queue',
        'connect-redis',
        '@keyv/redis',
        'iovalkey',
        'celery[redis]',
      ],
      ...[
        'aioredis',
        'django-redis',
        'channels-redis',
        'rq',
        'dramatiq[redis]',
        'arq',
        'sidekiq',
        'resque',
        'redis-rails',
      ],
      ...[
        'ext-redis',
        'predis/predis',
        'github.com/redis/go-redis',
        'github.com/go-redis/redis',
        'github.com/gomodule/redigo',
      ],
      ...['redis.clients:jedis', 'io.lettuce:lettuce-core', 'org.springframework.boot:spring-boot-starter-data-redis'],
      ...['deadpool-redis', 'redix', 'stackexchange.redis', 'microsoft.extensions.caching.stackexchangeredis'],
    ],
    declared: /\brediss?:\/\/|heroku-redis|\bQUEUE_CONNECTION=redis|\bCACHE_(?:STORE|DRIVER)=redis/,
    hinted: /\bREDIS_(?:URL|HOST|PORT|PASSWORD|TLS_URL)\b/,
  },
  {
    kind: 'MONGODB',
    image: /^(?:mongo|mongodb|mongodb-community-server|percona-server-mongodb)$/,
    drivers: [
      ...[
        'mongodb',
        'mongoose',
        '@nestjs/mongoose',
        '@typegoose/typegoose',
        'pymongo',
        'motor',
        'mongoengine',
        'beanie',
      ],
      ...[
        'mongoid',
        'mongo',
        'ext-mongodb',
        'mongodb/mongodb',
        'mongodb/laravel-mongodb',
        'go.mongodb.org/mongo-driver',
      ],
      ...[
        'org.mongodb:mongodb-driver-sync',
        'org.springframework.boot:spring-boot-starter-data-mongodb',
        'mongodb-driver',
      ],
      'mongodb.driver',
    ],
    declared: /\bmongodb(?:\+srv)?:\/\/|provider\s{0,4}=\s{0,4}"mongodb"/,
    hinted: /\bMONGO(?:DB)?_(?:URI|URL|HOST|INITDB_\w{1,40})\b/,
  },
  {
    kind: 'ELASTICSEARCH',
    image: /^(?:elasticsearch|opensearch)$/,
    drivers: [
      '@elastic/elasticsearch',
      '@opensearch-project/opensearch',
      'elasticsearch',
      'opensearch-py',
      'github.com/elastic/go-elasticsearch',
    ],
    declared: /\belasticsearch:9200\b/,
    hinted: /\bELASTICSEARCH_(?:URL|HOSTS?|NODE)\b/,
  },
  {
    kind: 'RABBITMQ',
    image: /^rabbitmq$/,
    drivers: [
      'amqplib',
      'amqp-connection-manager',
      'pika',
      'aio-pika',
      'bunny',
      'github.com/rabbitmq/amqp091-go',
      'rabbitmq.client',
      'lapin',
    ],
    declared: /\bamqps?:\/\//,
    hinted: /\bRABBITMQ_(?:URL|HOST|DEFAULT_USER)\b/,
  },
  {
    kind: 'MEMCACHED',
    image: /^memcached$/,
    drivers: ['memcached', 'memjs', 'pymemcache', 'pylibmc', 'dalli', 'ext-memcached'],
    declared: /\bmemcached:\/\/|\bmemcached:11211\b/,
    hinted: /\bMEMCACHED?_(?:SERVERS?|URL|HOST)\b/,
  },
  {
    kind: 'KAFKA',
    image: /^(?:kafka|cp-kafka|redpanda)$/,
    drivers: [
      'kafkajs',
      'confluent-kafka',
      'aiokafka',
      'github.com/segmentio/kafka-go',
      'org.springframework.kafka:spring-kafka',
    ],
    declared: /\bkafka:9092\b/,
    hinted: /\bKAFKA_(?:BROKERS?|BOOTSTRAP_SERVERS)\b/,
  },
  {
    kind: 'MSSQL',
    image: /^(?:mssql|mssql-server|azure-sql-edge)$/,
    drivers: [
      ...['mssql', 'tedious', 'pymssql', 'github.com/microsoft/go-mssqldb', 'com.microsoft.sqlserver:mssql-jdbc'],
      ...['microsoft.data.sqlclient', 'system.data.sqlclient', 'microsoft.entityframeworkcore.sqlserver'],
    ],
    declared: /jdbc:sqlserver:|\bmssql(?:\+\w{1,20})?:\/\/|provider\s{0,4}=\s{0,4}"sqlserver"/,
    hinted: /\bMSSQL_(?:SA_PASSWORD|HOST|PID)\b/,
  },
  {
    kind: 'CLICKHOUSE',
    image: /^(?:clickhouse|clickhouse-server)$/,
    drivers: ['@clickhouse/client', 'clickhouse-connect', 'clickhouse-driver', 'github.com/clickhouse/clickhouse-go'],
    declared: /\bclickhouse(?:\+\w{1,20})?:\/\//,
    hinted: /\bCLICKHOUSE_(?:URL|HOST|DATABASE_URL)\b/,
  },
];
