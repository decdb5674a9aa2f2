import { Migration } from '@mikro-orm/migrations';

/** Deployments as the engine carries them out, their messages, and what pushes were told to us. */
export class Migration20261115Deployments extends Migration {
  override up(): void {
    this.addSql(environments);
    this.addSql(deployments);
    this.addSql(messages);
    this.addSql(hooks);
    this.addSql(certificates);
    this.addSql(finalized);
    this.addSql(`alter table run add column left_behind jsonb not null default '[]'`);
  }
}

const environments = `
alter table environment
  add column status_reason text,
  add column auto_deploy_by text,
  add column watch_paths jsonb not null default '[]',
  add column pre_deploy_command text,
  add column keep_releases integer not null default 5,
  add column public_port integer,
  add column hook_secret text,
  add column hook_id varchar(255),
  add column seen_commit varchar(64),
  add column seen_branch varchar(255),
  add column deployment_count integer not null default 0,
  add column change_count integer not null default 0,
  add column status_before text,
  add column watch jsonb;
create unique index on environment (server_id, public_port) where public_port is not null;
`;

/** One at a time for each environment, whatever the queue believes. */
const deployments = `
alter table deployment
  add column server_id uuid references server on delete set null deferrable initially deferred,
  add column phase text,
  add column is_finished boolean not null default false,
  add column image varchar(255),
  add column builder text,
  add column rollback_of uuid,
  add column superseded_by uuid,
  add column error jsonb,
  add column phases jsonb not null default '[]',
  add column wanted_commit varchar(64),
  add column rebuild boolean not null default false,
  add column uses_current_variables boolean not null default true,
  add column fence integer not null default 0,
  add column cancel_asked_at timestamptz(3),
  add column log_seq integer not null default 0,
  add column variables text,
  add column composition text,
  add column images jsonb not null default '[]',
  add column build_key varchar(64),
  add column app_port integer,
  add column host_port integer,
  add column seen_changes integer not null default 0,
  add column has_leftovers boolean not null default false;
create unique index deployment_one_at_a_time on deployment (environment_id) where started_at is not null and not is_finished;
create index on deployment (server_id) where not is_finished;
create index on deployment (server_id) where has_leftovers;
create unique index on deployment (server_id, host_port) where host_port is not null and status in ('RUNNING', 'CANCELLING', 'LIVE');
`;

const messages = `
create table deployment_message (
  deployment_id uuid not null references deployment on delete cascade deferrable initially deferred,
  seq integer not null,
  at timestamptz(3) not null,
  kind text not null,
  status text not null,
  phase text,
  is_finished boolean not null default false,
  message text not null,
  stream text,
  primary key (deployment_id, seq)
);
create index on deployment_message using brin (at);
create index on deployment_message (deployment_id, seq) where kind = 'STATUS';
`;

const hooks = `
create table hook_delivery (
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  project_id uuid not null references project on delete cascade deferrable initially deferred,
  environment_id uuid not null references environment on delete cascade deferrable initially deferred,
  delivery_id varchar(255) not null,
  event varchar(255) not null,
  branch varchar(255),
  commit_sha varchar(64),
  commit_message text,
  commit_author varchar(255),
  body_digest varchar(64),
  changed_paths jsonb,
  decision text not null,
  reason text not null,
  deployment_id uuid,
  redelivery_of uuid,
  unique (environment_id, delivery_id),
  unique (environment_id, body_digest)
);
create index on hook_delivery (environment_id, id desc);
`;

/** Names that were given before have what was left out of them. */
const certificates = `
create table custom_certificate (
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  project_id uuid not null references project on delete cascade deferrable initially deferred,
  environment_id uuid not null references environment on delete cascade deferrable initially deferred,
  hostname varchar(255) not null,
  certificate text not null,
  private_key text not null,
  unique (environment_id, hostname)
);
update environment set domains = (
  select jsonb_agg('{"forceHttps": true, "redirectWww": false}' || domain) from jsonb_array_elements(domains) as domain
) where domains <> '[]';
`;

/** Environments can be made before a project is finalised, so what it was before its deletion is not seen in them any more. */
const finalized = `
alter table project add column is_finalized boolean not null default false;
update project set is_finalized = true where exists (select from environment where project_id = project.id);
`;
