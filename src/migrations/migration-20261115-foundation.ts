import { Migration } from '@mikro-orm/migrations';

/** Accounts, workspaces, the audit trail, the event log, runs, limits and kept answers. */
export class Migration20261115Foundation extends Migration {
  override up(): void {
    this.addSql(accounts);
    this.addSql(records);
    this.addSql(operations);
    this.addSql(credentialBell);
    this.addSql(appendOnlyAudit);
  }
}

const accounts = `
create table workspace (
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  name varchar(255) not null
);
create table users (
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  email varchar(320) not null unique,
  name varchar(255),
  role text not null check (role in ('OWNER', 'MEMBER', 'VIEWER')),
  instance_admin boolean not null default false,
  email_verified boolean not null default false,
  two_factor_enabled boolean not null default false,
  last_login_at timestamptz(3),
  password_hash text not null,
  invitation_id uuid
);
create index on users (workspace_id, id desc);
create table session (
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  user_id uuid not null references users on delete cascade deferrable initially deferred,
  user_agent varchar(255),
  ip varchar(45),
  last_used_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  generation integer not null default 1,
  rotated_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
create index on session (user_id, id desc);
create table api_token (
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  user_id uuid not null references users on delete cascade deferrable initially deferred,
  name varchar(255) not null,
  scope text not null check (scope in ('read', 'deploy', 'write')),
  prefix varchar(16) not null,
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  token_hash text not null unique
);
create index on api_token (user_id, id desc);
create table one_time_code (
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  user_id uuid not null references users on delete cascade deferrable initially deferred,
  purpose text not null,
  code_hash text not null,
  challenge_hash text not null unique,
  guesses integer not null default 0,
  stranger_guesses integer not null default 0,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);
create index on one_time_code (user_id, id desc);
create table password_reset (
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  user_id uuid not null references users on delete cascade deferrable initially deferred,
  token_hash text not null unique,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);
create index on password_reset (user_id);
create table invitation (
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  email varchar(320) not null,
  role text not null check (role in ('OWNER', 'MEMBER', 'VIEWER')),
  invited_by_id uuid not null,
  expires_at timestamptz(3) not null,
  token_hash text not null unique,
  used_at timestamptz(3)
);
create index on invitation (workspace_id, id desc);
`;

/** The audit trail outlives the accounts it speaks of, so it refers to them without a foreign key. */
const records = `
create table audit_entry (
  id uuid primary key,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  at timestamptz(3) not null,
  actor uuid,
  token_id uuid,
  ip varchar(45),
  action varchar(64) not null,
  resource varchar(128),
  outcome text not null,
  request_id varchar(128)
);
create index on audit_entry (workspace_id, id desc);
create index on audit_entry (workspace_id, actor, id desc);
create index on audit_entry (workspace_id, resource, id desc);
create index on audit_entry (at);
create sequence event_seq;
create table event (
  seq bigint primary key,
  id uuid not null unique,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  kind text not null,
  action text not null,
  at timestamptz(3) not null,
  actor uuid,
  project_id uuid,
  resource_type text not null,
  resource_id uuid not null,
  data jsonb not null
);
create index on event (workspace_id, seq);
create index on event (at);
create table run (
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  kind text not null,
  status text not null,
  steps jsonb not null,
  error jsonb,
  requested_by uuid,
  subject varchar(128),
  fence integer not null default 0,
  started_at timestamptz(3),
  finished_at timestamptz(3)
);
create index on run (workspace_id, id desc);
`;

/** Counters change with every request and mean nothing after a minute: not worth a write-ahead log. */
const operations = `
create table idempotent_answer (
  id text primary key,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  body_hash text not null,
  answer text not null,
  created_at timestamptz(3) not null
);
create index on idempotent_answer (created_at);
create unlogged table rate_counter (
  key text primary key,
  hits integer not null,
  resets_at timestamptz(3) not null
) with (fillfactor = 50);
create table instance (
  id integer primary key check (id = 1),
  key_check text not null,
  setup_code_hash text
);
`;

/**
 * Every instance remembers who a credential belongs to. A change that matters rings at commit, by trigger,
 * so that no code path can forget to tell them; mere use (last_used_at) does not ring.
 */
const credentialBell = `
create function ring_credential() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway_credential', tg_argv[0] || ':' || old.id);
  return null;
end $$;
create trigger users_changed after delete or update of role, workspace_id, email_verified, instance_admin on users
  for each row execute function ring_credential('user');
create trigger session_changed after delete or update of ended_at, expires_at on session
  for each row execute function ring_credential('session');
create trigger api_token_changed after delete or update of scope, expires_at on api_token
  for each row execute function ring_credential('token');
`;

const appendOnlyAudit = `
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('slipway.pruning', true) = 'on' then
    return old;
  end if;
  raise exception 'the audit trail is append-only';
end $$;
create trigger audit_append_only before update or delete on audit_entry
  for each row execute function refuse_audit_change();
`;
