import { bestOf, type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { textAt, valueAt } from '../../repository/plain-values.ts';
import { noFacts, type Stack } from '../../stack.ts';
import { javaDockerfile } from './java.dockerfile.ts';
import { gradleFile, type JavaBuild, javaBuildOf, mavenFile } from './java-build.ts';
import { isDistribution, javaStartOf } from './java-start.ts';
import { javaVersionOf } from './java-version.ts';

/** Kotlin, and Groovy, run on the same machine and are built by the same tools. */
export const javaStack: Stack = {
  language: 'java',

  sign(folder) {
    const manifest = mavenFile(folder) ?? gradleFile(folder);
    if (manifest !== null) return found('java', folder.where(manifest), `${manifest} builds a Java program`, 0.94);
    const program =
      folder.first(['build.xml', 'WEB-INF/web.xml', 'META-INF/MANIFEST.MF']) ??
      folder.names.find(name => /\.(?:java|kt|jar|war)$/.test(name));
    return program ? found('java', folder.where(program), `${program} is Java`, 0.6) : null;
  },

  describe(folder) {
    const build = javaBuildOf(folder);
    const frameworks = frameworkOf(folder, build);
    return {
      ...noFacts,
      languageVersion: javaVersionOf(folder),
      framework: frameworks,
      packageManager:
        build === null ? [] : [found(build.tool, folder.where(build.file), `${build.file} is written for it`, 0.97)],
      buildCommand: build === null ? [] : [buildOf(folder, build)],
      startCommand: javaStartOf(folder, build, bestOf(frameworks)),
      isStatic: [found(false, null, 'Java programs serve by themselves', 0.95)],
      port: candidates(configuredPort(folder), found(defaultPort(bestOf(frameworks)), null, 'the usual port', 0.7)),
    };
  },

  dockerfile: javaDockerfile,
};

const frameworkSigns: readonly (readonly [name: string, sign: RegExp])[] = [
  ['quarkus', /io\.quarkus/],
  ['micronaut', /io\.micronaut/],
  ['spring-boot', /org\.springframework\.boot|spring-boot/],
  ['ktor', /io\.ktor|ktor-server/],
  ['dropwizard', /io\.dropwizard/],
  ['helidon', /io\.helidon/],
  ['vertx', /io\.vertx/],
  ['javalin', /io\.javalin/],
  ['grails', /org\.grails/],
  ['wildfly-swarm', /wildfly\.swarm/],
  ['spark', /com\.sparkjava/],
];

function frameworkOf(folder: Folder, build: JavaBuild | null): Candidates<string> {
  if (build === null) return [];
  const byMention = frameworkSigns.map(
    ([name, sign]) =>
      sign.test(build.mentions) && found(name, folder.where(build.file), `the build mentions ${name}`, 0.95),
  );
  return candidates(
    ...byMention,
    folder.has('micronaut-cli.yml') &&
      found('micronaut', folder.where('micronaut-cli.yml'), "micronaut-cli.yml is Micronaut's", 0.9),
    byProperties(folder, 'gradle.properties', /^quarkusP/m, 'quarkus'),
    byProperties(folder, 'gradle.properties', /^micronautVersion/m, 'micronaut'),
    byProperties(folder, 'src/main/resources/application.properties', /^(?:quarkus)\./m, 'quarkus'),
    byProperties(
      folder,
      'src/main/resources/application.properties',
      /^(?:spring|management|server)\./m,
      'spring-boot',
    ),
    springProgram(folder),
  );
}

function byProperties(folder: Folder, file: string, sign: RegExp, name: string): Found<string> | null {
  return sign.test(folder.text(file) ?? '') ? found(name, folder.where(file), `${file} configures ${name}`, 0.8) : null;
}

function springProgram(folder: Folder): Found<string> | null {
  for (const [name, text] of folder.texts(/^src\/main\/.*\.(?:java|kt)$/)) {
    if (text.includes('@SpringBootApplication'))
      return found('spring-boot', folder.where(name), 'the program is a Spring Boot application', 0.9);
  }
  return null;
}

function buildOf(folder: Folder, { tool, file }: JavaBuild): Found<string> {
  if (tool === 'maven') {
    const command = folder.has('mvnw') ? './mvnw' : 'mvn';
    return found(`${command} -B -DskipTests package`, folder.where(file), 'Maven packages the program', 0.93);
  }
  const command = folder.has('gradlew') ? './gradlew' : 'gradle';
  const task = isDistribution(folder) ? 'installDist' : 'build';
  return found(
    `${command} --no-daemon ${task} -x check -x test`,
    folder.where(file),
    'Gradle packages the program',
    0.93,
  );
}

function configuredPort(folder: Folder): Found<number> | null {
  for (const file of ['application.properties', 'application.yml', 'application.yaml'].map(
    name => `src/main/resources/${name}`,
  )) {
    if (!folder.has(file)) continue;
    const inProperties =
      /^(?:server|quarkus\.http|micronaut\.server)\.port\s{0,4}[=:]\s{0,4}(?:\$\{PORT:)?(\d{2,5})/m.exec(
        folder.text(file) ?? '',
      )?.[1];
    const inYaml = file.endsWith('s')
      ? null
      : (textAt(folder.yaml(file), 'server', 'port') ?? valueAt(folder.yaml(file), 'server', 'port'));
    const written = inProperties ?? /\d{2,5}/.exec(String(inYaml ?? ''))?.[0];
    if (written !== undefined && Number(written) <= 65_535)
      return found(Number(written), folder.where(file), 'the settings name it', 0.9);
  }
  return null;
}

const defaultPort = (framework: string | null): number =>
  framework === 'javalin' ? 7070 : framework === 'spark' ? 4567 : 8080;
