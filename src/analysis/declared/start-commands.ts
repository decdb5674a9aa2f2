import { type Candidates, candidates, type Found, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { listAt, textAt, valueAt } from '../repository/plain-values.ts';

/** What the owner wrote down for this or another platform outweighs everything we could guess. */
export function declaredStart(folder: Folder): Candidates<string> {
  const processes = procfileProcesses(folder);
  return candidates(
    inPlatformFile(folder),
    processes.find(({ name }) => name === 'web')?.command,
    processes.length === 1 && processes[0]?.name !== 'release' && processes[0]?.command,
    processes.find(({ name }) => name === 'worker')?.command,
  );
}

export function declaredRelease(folder: Folder): Candidates<string> {
  return candidates(procfileProcesses(folder).find(({ name }) => name === 'release')?.command);
}

interface Process {
  readonly name: string;
  readonly command: Found<string>;
}

function procfileProcesses(folder: Folder): Process[] {
  const lines = folder.text('Procfile')?.split(/\r?\n/).slice(0, 200) ?? [];
  return lines.flatMap(line => {
    const [, name, command] = /^([A-Za-z0-9_-]{1,63}):(.{1,4096})$/.exec(line) ?? [];
    const trimmed = withoutControls(command ?? '').trim();
    if (name === undefined || trimmed === '' || isElsewhere(trimmed)) return [];
    return [{ name, command: found(trimmed, folder.where('Procfile'), `the Procfile's ${name} process`, 0.98) }];
  });
}

/** Programs that exist on one platform's machines only. */
const isElsewhere = (command: string): boolean => /^(?:vendor\/bin\/)?heroku-(?:php|hhvm)-/.test(command);

const platformFiles: readonly { file: string; read(folder: Folder, file: string): string | null }[] = [
  { file: 'railpack.json', read: (folder, file) => textAt(folder.json(file), 'deploy', 'startCommand') },
  { file: 'nixpacks.toml', read: (folder, file) => textAt(folder.toml(file), 'start', 'cmd') },
  { file: 'app.yaml', read: (folder, file) => textAt(folder.yaml(file), 'entrypoint') },
  { file: 'project.toml', read: (folder, file) => buildpackStart(folder.toml(file)) },
];

function inPlatformFile(folder: Folder): Found<string> | null {
  for (const { file, read } of platformFiles) {
    const command = folder.has(file) ? withoutControls(read(folder, file) ?? '').trim() : '';
    if (command !== '') return found(command, folder.where(file), `${file} sets the start command`, 0.95);
  }
  return null;
}

/** Cloud Native Buildpacks' project descriptor: an environment variable of the build names the entry point. */
function buildpackStart(descriptor: unknown): string | null {
  const variables = [...listAt(descriptor, 'io', 'buildpacks', 'build', 'env'), ...listAt(descriptor, 'build', 'env')];
  const entry = variables.find(variable => valueAt(variable, 'name') === 'GOOGLE_ENTRYPOINT');
  return textAt(entry, 'value');
}

const withoutControls = (text: string): string => text.replace(/\p{Cc}/gu, ' ');
