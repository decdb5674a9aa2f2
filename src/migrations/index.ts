import { Migration20261115Deployments } from './migration-20261115-deployments.ts';
import { Migration20261115Foundation } from './migration-20261115-foundation.ts';
import { Migration20261115Projects } from './migration-20261115-projects.ts';
import { Migration20261115RunCancel } from './migration-20261115-run-cancel.ts';
import { Migration20261115Servers } from './migration-20261115-servers.ts';

/** Named one by one, so that the bundled service finds them without reading a folder. */
export const migrations = [
  { name: '20261115-foundation', class: Migration20261115Foundation },
  { name: '20261115-projects', class: Migration20261115Projects },
  { name: '20261115-servers', class: Migration20261115Servers },
  { name: '20261115-run-cancel', class: Migration20261115RunCancel },
  { name: '20261115-deployments', class: Migration20261115Deployments },
];
