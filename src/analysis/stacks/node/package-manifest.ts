import type { Folder } from '../../repository/folder.ts';
import { isObject, objectAt, textAt, textsAt, valueAt } from '../../repository/plain-values.ts';

/** A package.json, of which nothing is taken for granted. */
export class PackageManifest {
  readonly file: string;
  readonly json: unknown;
  readonly #scripts: Readonly<Record<string, unknown>>;
  readonly #dependencies: Readonly<Record<string, unknown>>;
  readonly #devDependencies: Readonly<Record<string, unknown>>;

  constructor(folder: Folder) {
    this.file = folder.where('package.json');
    this.json = folder.json('package.json');
    this.#scripts = objectAt(this.json, 'scripts');
    this.#dependencies = { ...objectAt(this.json, 'optionalDependencies'), ...objectAt(this.json, 'dependencies') };
    this.#devDependencies = objectAt(this.json, 'devDependencies');
  }

  get name(): string | null {
    return textAt(this.json, 'name');
  }

  script(name: string): string | null {
    return textAt(this.#scripts, name);
  }

  /** What a script comes down to: "npm run develop" is whatever develop is. */
  command(name: string, hops = 3): string | null {
    const text = this.script(name);
    const [, next] =
      /^(?:npm run|npm|pnpm run|pnpm|yarn run|yarn|bun run) ([\w:.-]{1,64})$/.exec(text?.trim() ?? '') ?? [];
    return next !== undefined && next !== name && hops > 0 ? (this.command(next, hops - 1) ?? text) : text;
  }

  field(...keys: readonly string[]): string | null {
    return textAt(this.json, ...keys);
  }

  /** Needed to run or to build: who deploys from source needs both. */
  uses(dependency: string): boolean {
    return this.runsWith(dependency) || Object.hasOwn(this.#devDependencies, dependency);
  }

  runsWith(dependency: string): boolean {
    return Object.hasOwn(this.#dependencies, dependency);
  }

  usesAny(dependencies: readonly string[]): string | null {
    return dependencies.find(dependency => this.uses(dependency)) ?? null;
  }

  versionOf(dependency: string): string | null {
    return textAt(this.#dependencies, dependency) ?? textAt(this.#devDependencies, dependency);
  }

  get dependencyNames(): string[] {
    return Object.keys(this.#dependencies);
  }

  get hasDependencies(): boolean {
    return Object.keys(this.#dependencies).length + Object.keys(this.#devDependencies).length > 0;
  }

  /** Patterns of the member folders, in either spelling that npm, Yarn and Bun accept. */
  get workspaces(): string[] {
    const workspaces = valueAt(this.json, 'workspaces');
    return isObject(workspaces) ? textsAt(workspaces, 'packages') : textsAt(this.json, 'workspaces');
  }
}
