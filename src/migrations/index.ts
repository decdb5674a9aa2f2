import { Migration20261115Foundation } from './migration-20261115-foundation.ts';

/** Named one by one, so that the bundled service finds them without reading a folder. */
export const migrations = [{ name: '20261115-foundation', class: Migration20261115Foundation }];
