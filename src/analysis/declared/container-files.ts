import { type Candidates, candidates, type Found, found } from '../finding.ts';
import type { Folder } from '../repository/folder.ts';
import { isObject, listAt, objectAt, type PlainObject, textAt, valueAt } from '../repository/plain-values.ts';

const composeNames = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'];
const dockerfileNames = ['Dockerfile', 'Containerfile', 'Dockerfile.prod', 'Dockerfile.production'];

export const composeFileOf = (folder: Folder): string | null => folder.first(composeNames);

/** One that stands at the root under its usual name; others are for other purposes, or for a person to choose. */
export const dockerfileOf = (folder: Folder): string | null => folder.first(dockerfileNames);

export interface ComposeService {
  readonly name: string;
  readonly image: string | null;
  /** Folder of its build context, from the root of the repository. */
  readonly context: string | null;
  readonly ports: readonly number[];
  readonly environment: PlainObject | readonly unknown[];
}

export function composeServices(folder: Folder): ComposeService[] {
  const file = composeFileOf(folder);
  const services = objectAt(file === null ? null : folder.yaml(file), 'services');
  return Object.entries(services)
    .slice(0, 100)
    .map(([name, service]) => ({
      name,
      image: textAt(service, 'image'),
      context: contextOf(folder, service),
      ports: portsOf(service),
      environment: environmentOf(service),
    }));
}

function contextOf(folder: Folder, service: unknown): string | null {
  const context = textAt(service, 'build') ?? textAt(service, 'build', 'context');
  if (context === null && !isObject(valueAt(service, 'build'))) return null;
  const parts = `${folder.path}/${context ?? '.'}`.split('/').filter(part => part !== '' && part !== '.');
  return parts.includes('..') ? null : parts.join('/');
}

function environmentOf(service: unknown): PlainObject | readonly unknown[] {
  const environment = valueAt(service, 'environment');
  return Array.isArray(environment) ? environment : objectAt(service, 'environment');
}

/** The container's side of "8080:3000/tcp", of {target: 3000} and of expose. */
function portsOf(service: unknown): number[] {
  const written = [...listAt(service, 'ports'), ...listAt(service, 'expose')];
  return written.flatMap(port => {
    const target = isObject(port) ? valueAt(port, 'target') : String(port).split('/')[0]?.split(':').at(-1);
    return portNumber(String(target)) ?? [];
  });
}

/** The last stage is what runs: only its EXPOSE counts. Read line by line, since parsers for editors can be kept busy for minutes. */
export function exposedPorts(folder: Folder, file: string): Candidates<number> {
  let ports: string[] = [];
  for (const line of (folder.text(file) ?? '').split('\n')) {
    const [keyword = '', ...words] = line.trim().split(/\s+/, 20);
    if (/^from$/i.test(keyword)) ports = [];
    if (/^expose$/i.test(keyword)) ports.push(...words);
  }
  return candidates(...ports.map(port => exposed(folder.where(file), port)));
}

function exposed(file: string, port: string): Found<number> | null {
  const number = portNumber(port.split('/')[0] ?? '');
  return number === null ? null : found(number, file, 'the Dockerfile exposes it', 0.95);
}

export function portNumber(text: string): number | null {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= 65_535 ? number : null;
}
