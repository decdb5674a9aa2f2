import type { Folder } from '../../repository/folder.ts';
import { withoutComments } from '../../repository/program-text.ts';

/** A framework's settings are a program. It is read, never run: a setting counts if it stands there in plain words. */
export interface FrameworkConfig {
  readonly file: string | null;
  readonly text: string;
}

export function frameworkConfig(folder: Folder, ...stems: readonly string[]): FrameworkConfig {
  const name = folder.names.find(file => stems.some(stem => new RegExp(`^${stem}\\.[cm]?[jt]s$`).test(file)));
  if (name === undefined) return { file: null, text: '' };
  return { file: folder.where(name), text: withoutComments(folder.text(name) ?? '') };
}

/** The plain string a setting is given: `outDir: "build"`. */
export function stringSetting({ text }: FrameworkConfig, key: string): string | null {
  return (
    new RegExp(`(?:^|[\\s{,(])['"]?${key}['"]?\\s{0,4}:\\s{0,4}['"\`]([^'"\`\\n$]{1,200})['"\`]`).exec(text)?.[1] ??
    null
  );
}

export function isSetTo({ text }: FrameworkConfig, key: string, value: string): boolean {
  return new RegExp(`(?:^|[\\s{,(])['"]?${key}['"]?\\s{0,4}:\\s{0,4}['"]?${value}\\b`).test(text);
}
