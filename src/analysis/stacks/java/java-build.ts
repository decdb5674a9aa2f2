import type { Folder } from '../../repository/folder.ts';
import { childText, elementsNamed, type XmlElement } from '../../repository/xml-text.ts';

/** What builds a Java application, and all that its build files mention. */
export interface JavaBuild {
  readonly tool: 'maven' | 'gradle';
  readonly file: string;
  /** Every dependency and plugin of the build and its modules, as text to search in. */
  readonly mentions: string;
  /** Folder of the module that makes the program; empty for the root. */
  readonly module: string;
}

const pomNames = ['pom.xml', 'pom.atom', 'pom.clj', 'pom.groovy', 'pom.rb', 'pom.scala', 'pom.yaml', 'pom.yml'];
const gradleNames = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'gradlew'];

export const mavenFile = (folder: Folder): string | null => folder.first(pomNames);
export const gradleFile = (folder: Folder): string | null => folder.first(gradleNames);

export function javaBuildOf(folder: Folder): JavaBuild | null {
  const pom = mavenFile(folder);
  if (pom !== null) return mavenBuild(folder, pom);
  const gradle = gradleFile(folder);
  return gradle === null ? null : gradleBuild(folder, gradle);
}

function mavenBuild(folder: Folder, file: string): JavaBuild {
  const root = folder.xml('pom.xml');
  const modules =
    root === null
      ? []
      : elementsNamed(root, 'module')
          .map(({ text }) => text.trim())
          .filter(name => folder.has(`${name}/pom.xml`));
  const poms = [root, ...modules.map(name => folder.xml(`${name}/pom.xml`))];
  return {
    tool: 'maven',
    file,
    mentions: poms.flatMap(pom => (pom === null ? [] : mentionsOf(pom))).join('\n'),
    module: isAggregate(root) ? programModule(folder, modules) : '',
  };
}

function mentionsOf(pom: XmlElement): string[] {
  const named = ['dependency', 'plugin', 'parent'].flatMap(name => elementsNamed(pom, name));
  return named.map(element => `${childText(element, 'groupId') ?? ''}:${childText(element, 'artifactId') ?? ''}`);
}

const isAggregate = (pom: XmlElement | null): boolean => childText(pom?.children[0], 'packaging') === 'pom';

/** The module that packages a program: one with a plugin for it, else one with a name that says so, else the last. */
function programModule(folder: Folder, modules: readonly string[]): string {
  const packaging =
    /spring-boot-maven-plugin|maven-shade-plugin|maven-assembly-plugin|quarkus-maven-plugin|exec-maven-plugin/;
  const isPackaged = (name: string) => {
    const pom = folder.xml(`${name}/pom.xml`);
    return pom !== null && mentionsOf(pom).some(mention => packaging.test(mention));
  };
  const chosen =
    modules.find(isPackaged) ??
    modules.find(name => /(?:^|-)(?:app|web|server|api|main|service)$/.test(name)) ??
    modules.at(-1) ??
    '';
  return /^[\w./-]*$/.test(chosen) ? chosen : '';
}

function gradleBuild(folder: Folder, file: string): JavaBuild {
  const texts = [...folder.texts(/^(?:[\w.-]+\/){0,2}(?:build\.gradle(?:\.kts)?|libs\.versions\.toml)$/)];
  const program = texts.find(
    ([name, text]) =>
      name.includes('/') &&
      /org\.springframework\.boot|application|ktor|quarkus|shadow/.test(text) &&
      name.includes('build.gradle'),
  );
  const hasRootProgram = folder.hasFolder('src/main');
  const module = hasRootProgram || program === undefined ? '' : program[0].slice(0, program[0].lastIndexOf('/'));
  return {
    tool: 'gradle',
    file,
    mentions: texts.map(([, text]) => text).join('\n'),
    module: /^[\w./-]*$/.test(module) ? module : '',
  };
}
