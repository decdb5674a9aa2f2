import type { Folder } from '../../repository/folder.ts';
import { objectAt } from '../../repository/plain-values.ts';

export const composerOf = (folder: Folder): unknown =>
  folder.has('composer.json') ? folder.json('composer.json') : null;

export const requirementsOf = (folder: Folder): Readonly<Record<string, unknown>> =>
  objectAt(composerOf(folder), 'require');
