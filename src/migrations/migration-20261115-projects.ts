import { Migration } from '@mikro-orm/migrations';

/** Git accounts, projects and their analyses; environments, variables and queued deployments as far as finalising needs them. */
export class Migration20261115Projects extends Migration {
  override up(): void {
    this.addSql(sources);
    this.addSql(environments);
    this.addSql(boundTokens);
  }
}

const owned = `
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred`;

const sources = `
create table git_provider (${owned},
  provider text not null,
  base_url varchar(512) not null,
  username varchar(255) not null,
  avatar_url text,
  label varchar(255),
  scopes jsonb not null,
  state text not null,
  expires_at timestamptz(3),
  checked_at timestamptz(3) not null,
  token text,
  login_name varchar(255),
  unique (workspace_id, provider, base_url, username)
);
create index on git_provider (workspace_id, id desc);
create table project (${owned},
  name varchar(255) not null,
  slug varchar(63) not null,
  description text,
  git_provider_id uuid references git_provider on delete set null deferrable initially deferred,
  repository text not null,
  branch varchar(255),
  root_directory text,
  status text not null,
  build jsonb not null,
  analysis_id uuid,
  updated_at timestamptz(3) not null,
  unique (workspace_id, slug)
);
create index on project (workspace_id, id desc);
create index on project (git_provider_id);
create table analysis (${owned},
  project_id uuid not null references project on delete cascade deferrable initially deferred,
  status text not null,
  commit jsonb,
  steps jsonb not null,
  result jsonb,
  error jsonb,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  fence integer not null default 0
);
create index on analysis (project_id, id desc);
`;

const environments = `
create table environment (${owned},
  project_id uuid not null references project on delete cascade deferrable initially deferred,
  name varchar(255) not null,
  slug varchar(63) not null,
  branch varchar(255),
  server_id uuid,
  status text not null,
  needs_deploy boolean not null,
  auto_deploy boolean not null,
  url text,
  domains jsonb not null,
  services jsonb not null,
  build jsonb not null,
  health_check jsonb not null,
  resources jsonb not null,
  current_deployment_id uuid,
  latest_deployment_id uuid,
  updated_at timestamptz(3) not null,
  unique (project_id, slug)
);
create index on environment (workspace_id, id desc);
create index on environment (project_id, id desc);
create table variable (${owned},
  project_id uuid not null references project on delete cascade deferrable initially deferred,
  environment_id uuid not null references environment on delete cascade deferrable initially deferred,
  key varchar(255) not null,
  value text not null,
  secret boolean not null,
  scope text not null,
  updated_by uuid,
  updated_at timestamptz(3) not null,
  unique (environment_id, key)
);
create table deployment (${owned},
  project_id uuid not null references project on delete cascade deferrable initially deferred,
  environment_id uuid not null references environment on delete cascade deferrable initially deferred,
  number integer not null,
  status text not null,
  trigger text not null,
  actor uuid,
  commit jsonb,
  branch varchar(255),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  unique (environment_id, number)
);
create index on deployment (environment_id, id desc);
create index on deployment (workspace_id, id desc);
`;

/** A token bound to something goes with it. */
const boundTokens = `
alter table api_token
  add column project_id uuid references project on delete cascade deferrable initially deferred,
  add column environment_id uuid references environment on delete cascade deferrable initially deferred;
create index on api_token (project_id) where project_id is not null;
`;
