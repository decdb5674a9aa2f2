import { type Found, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { objectAt, textAt, textsAt } from '../repository/plain-values.ts';

/** "v22.2.0", "3.12.*", "~> 3.3", ">=18 <21", "temurin-21.0.2": the first number in it, as exact as it was written. */
export const firstVersion = (text: string | null | undefined): string | null =>
  /\d+(?:\.\d+){0,2}/.exec((text ?? '').slice(0, 200))?.[0] ?? null;

/** As exact as an image tag should be: security fixes of the last number arrive by themselves. */
export const majorMinor = (version: string): string => version.split('.').slice(0, 2).join('.');

export const major = (version: string): string => version.split('.')[0] ?? version;

/** A file that holds nothing but a version, like .ruby-version. */
export function versionInFile(folder: Folder, name: string): Found<string> | null {
  const line = folder
    .text(name)
    ?.split('\n')
    .find(text => text.trim() !== '' && !text.startsWith('#'));
  const version = firstVersion(line);
  return version === null ? null : found(version, folder.where(name), `${name} names it`, 0.97);
}

/** What the version managers asdf and mise were told. */
export function versionOfTool(folder: Folder, ...tools: readonly string[]): Found<string> | null {
  return inMise(folder, tools) ?? inToolVersions(folder, tools);
}

function inMise(folder: Folder, tools: readonly string[]): Found<string> | null {
  const name = folder.first(['mise.toml', '.mise.toml']);
  if (name === null) return null;
  const wanted = objectAt(folder.toml(name), 'tools');
  for (const tool of tools) {
    const text = textAt(wanted, tool) ?? textAt(wanted, tool, 'version') ?? textsAt(wanted, tool)[0];
    const version = firstVersion(text);
    if (version !== null) return found(version, folder.where(name), `${name} lists ${tool}`, 0.95);
  }
  return null;
}

function inToolVersions(folder: Folder, tools: readonly string[]): Found<string> | null {
  for (const line of folder.text('.tool-versions')?.split('\n') ?? []) {
    const [tool, wanted] = line.trim().split(/\s+/);
    const version = tool !== undefined && tools.includes(tool) ? firstVersion(wanted) : null;
    if (version !== null) return found(version, folder.where('.tool-versions'), `.tool-versions lists ${tool}`, 0.95);
  }
  return null;
}

export const fallbackVersion = (version: string, language: string): Found<string> =>
  found(version, null, `the repository names no version of ${language}; this one is supported for longest`, 0.5);
