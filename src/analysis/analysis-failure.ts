/** Why an analysis ended without a result, or why one file was left out of it. */
const hints = {
  REPOSITORY_EMPTY: 'Push a first commit, or choose another branch.',
  ROOT_NOT_FOUND: 'Choose a root directory that exists on this branch.',
  FOLDER_UNREADABLE: 'Check that the folder exists and may be read.',
  TOO_MANY_FILES: 'Choose a root directory inside the repository, or set the build by hand.',
  TOO_DEEP: 'Choose a root directory inside the repository, or set the build by hand.',
  NAME_TOO_LONG: 'Rename the file, or set the build by hand.',
  FILE_TOO_LARGE: 'Make the file smaller, or set the build by hand.',
  FILE_TOO_NESTED: 'Make the file flatter, or set the build by hand.',
  FILE_MALFORMED: 'Correct the file and analyse again.',
  YAML_ALIASES: 'Write the repeated part out instead of using YAML aliases.',
  NOT_UTF8: 'Save the file as UTF-8.',
  SYMLINK_IGNORED: 'Replace the link by the file itself: links are never followed.',
  TIMED_OUT: 'Analyse again; if it happens twice, set the build by hand.',
  INVALID_SETTING: 'Correct the setting and analyse again.',
  NOTHING_RECOGNISED: 'Add a Dockerfile, choose a root directory, or set the build by hand.',
} as const;

export type AnalysisFailureCode = keyof typeof hints;

export class AnalysisFailure extends Error {
  readonly code: AnalysisFailureCode;
  readonly hint: string;
  readonly file: string | null;

  constructor(code: AnalysisFailureCode, message: string, file: string | null = null) {
    super(message);
    this.name = code;
    this.code = code;
    this.hint = hints[code];
    this.file = file;
  }
}

/** File names travel into messages and logs: control characters and endless names do not. */
export function printablePath(path: string): string {
  const printable = path.replace(/[^\x20-\x7e]/g, '?');
  return printable.length > 120 ? `${printable.slice(0, 117)}...` : printable;
}
