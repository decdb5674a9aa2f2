import { fallbackVersion, firstVersion, versionInFile, versionOfTool } from '../../declared/versions.ts';
import { type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { elementsNamed } from '../../repository/xml-text.ts';

export const currentJava = '21';

export function javaVersionOf(folder: Folder): Candidates<string> {
  return candidates(
    inProperties(folder),
    versionInFile(folder, '.java-version'),
    versionInFile(folder, '.jdk-version'),
    inSdkman(folder),
    versionOfTool(folder, 'java'),
    inPom(folder),
    inGradle(folder),
    fallbackVersion(currentJava, 'Java'),
  );
}

/** "1.8" is how Java 8 called itself. */
const tidy = (version: string | null | undefined): string | null => {
  const number = firstVersion(version);
  return number === null ? null : ((number.startsWith('1.') ? number.slice(2) : number).split('.')[0] ?? null);
};

function seen(version: string | null, file: string, reason: string, confidence = 0.93): Found<string> | null {
  return version === null ? null : found(version, file, reason, confidence);
}

function inProperties(folder: Folder): Found<string> | null {
  const line = /^java\.runtime\.version\s{0,4}=\s{0,4}(\S{1,40})/m.exec(folder.text('system.properties') ?? '')?.[1];
  return seen(tidy(line), folder.where('system.properties'), 'system.properties names it', 0.97);
}

function inSdkman(folder: Folder): Found<string> | null {
  const line = /^java\s{0,4}=\s{0,4}(\S{1,40})/m.exec(folder.text('.sdkmanrc') ?? '')?.[1];
  return seen(tidy(line), folder.where('.sdkmanrc'), '.sdkmanrc names it');
}

function inPom(folder: Folder): Found<string> | null {
  const pom = folder.has('pom.xml') ? folder.xml('pom.xml') : null;
  const names = [
    'maven.compiler.release',
    'java.version',
    'release',
    'maven.compiler.target',
    'maven.compiler.source',
    'target',
    'source',
  ];
  const written = names
    .flatMap(name => (pom === null ? [] : elementsNamed(pom, name)))
    .map(({ text }) => tidy(text))
    .find(version => version !== null);
  return seen(written ?? null, folder.where('pom.xml'), 'pom.xml names it', 0.9);
}

function inGradle(folder: Folder): Found<string> | null {
  for (const [name, text] of folder.texts(/^(?:[\w.-]+\/)?build\.gradle(?:\.kts)?$/)) {
    const written =
      /JavaLanguageVersion\.of\(\s{0,4}(\d{1,2})|jvmToolchain\(\s{0,4}(\d{1,2})|VERSION_(?:1_)?(\d{1,2})|sourceCompatibility\s{0,4}=\s{0,4}['"]?(?:1\.)?(\d{1,2})/.exec(
        text,
      );
    const version = written?.slice(1).find(group => group !== undefined);
    if (version !== undefined) return seen(version, folder.where(name), `${name} names it`, 0.9);
  }
  return null;
}
