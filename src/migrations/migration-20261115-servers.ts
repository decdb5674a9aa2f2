import { Migration } from '@mikro-orm/migrations';

/** Machines we may reach, with their sealed credentials. */
export class Migration20261115Servers extends Migration {
  override up(): void {
    this.addSql(servers);
    this.addSql(placed);
  }
}

const servers = `
create table server (
  id uuid primary key,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  workspace_id uuid not null references workspace on delete cascade deferrable initially deferred,
  name varchar(255) not null,
  host varchar(255) not null,
  port integer not null,
  username varchar(255) not null,
  public_key text,
  host_keys jsonb not null default '[]',
  status text not null default 'PENDING',
  status_reason text,
  facts jsonb,
  security jsonb,
  security_checks jsonb,
  last_seen_at timestamptz(3),
  updated_at timestamptz(3) not null,
  private_key text,
  passphrase text,
  password text,
  missed_looks integer not null default 0,
  looked_at timestamptz(3)
);
create index on server (workspace_id, id desc);
create index on server (looked_at);
`;

/** A server that an environment is on cannot go. */
const placed = `
alter table environment add foreign key (server_id) references server deferrable initially deferred;
create index on environment (server_id) where server_id is not null;
`;
