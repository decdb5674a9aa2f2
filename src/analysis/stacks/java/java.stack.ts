import { bestOf, type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { textAt, valueAt } from '../../repository/plain-values.ts';
import { noFacts, type Stack } from '../../stack.ts';
import { javaDockerfile } from './java.dockerfile.ts';
import { gradleFile, type JavaBuild, javaBuildOf, mavenFile } from './java-build.ts';
import { javaVersionOf } from './java-version.ts';

/** Kotlin, and Groovy, run on the same machine and are built by the same tools. */
export const javaStack: Stack = {
  language: 'java',

  sign(folder) {
    const manifest = mavenFile(folder) ?? gradleFile(folder);
    if (manifest !== null) return found('java', folder.where(manifest), `${manifest} builds a Java program`, 0.94);
    const program =
      folder.names.find(name => /\.(?:java|kt)$/.test(name)) ??
      folder.first(['WEB-INF/web.xml', 'META-INF/MANIFEST.MF']);
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
      startCommand: startOf(folder, build, bestOf(frameworks)),
      isStatic: [found(false, null, 'Java programs serve by themselves', 0.95)],
      port: candidates(configuredPort(folder), found(defaultPort(bestOf(frameworks)), null, 'the usual port', 0.7)),
    };
  },

  dockerfile: javaDockerfile,
};

const frameworkSigns: readonly (readonly [name: string, sign: RegExp])[] = [
  ['spring-boot', /org\.springframework\.boot|spring-boot/],
  ['quarkus', /io\.quarkus/],
  ['micronaut', /io\.micronaut/],
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

/** Gradle's application plugin leaves a script beside the libraries; its jar alone cannot start. */
function isDistribution(folder: Folder): boolean {
  const text = javaBuildOf(folder)?.mentions ?? '';
  return (
    /^\s{0,8}(?:id\s{0,4}\(?['"]application['"]|application\s{0,4}$|apply plugin:\s{0,4}['"]application['"])/m.test(
      text,
    ) && !/springframework\.boot|shadow|quarkus|io\.ktor\.plugin/.test(text)
  );
}

function startOf(folder: Folder, build: JavaBuild | null, framework: string | null): Candidates<string> {
  if (build === null) return candidates(singleProgram(folder));
  const home = build.module === '' ? '' : `${build.module}/`;
  const options =
    framework === 'spring-boot'
      ? '-Dserver.port=$PORT '
      : framework === 'wildfly-swarm'
        ? '-Dswarm.http.port=$PORT '
        : '';
  const file = folder.where(build.file);
  if (framework === 'quarkus') {
    const output = build.tool === 'maven' ? 'target' : 'build';
    return [
      found(
        `java $JAVA_OPTS -jar ${home}${output}/quarkus-app/quarkus-run.jar`,
        file,
        'Quarkus puts its program there',
        0.9,
      ),
    ];
  }
  if (build.tool === 'maven')
    return [found(`java ${options}$JAVA_OPTS -jar ${home}target/*jar`, file, 'Maven puts the program there', 0.88)];
  const name = projectName(folder);
  if (isDistribution(folder) && name !== null)
    return [found(`./${home}build/install/${name}/bin/${name}`, file, 'Gradle puts a start script there', 0.85)];
  return [
    found(
      `java $JAVA_OPTS -jar ${options}$(ls -1 ${home}build/libs/*jar | grep -v plain)`,
      file,
      'Gradle puts the program there',
      0.88,
    ),
  ];
}

function projectName(folder: Folder): string | null {
  const settings = folder.text('settings.gradle') ?? folder.text('settings.gradle.kts') ?? '';
  return /^rootProject\.name\s{0,4}=\s{0,4}['"]([\w.-]{1,100})['"]/m.exec(settings)?.[1] ?? null;
}

/** A single file needs no build: Java runs it from its source. */
function singleProgram(folder: Folder): Found<string> | null {
  const file =
    folder.first(['Main.java', 'App.java', 'Application.java']) ?? folder.names.find(name => name.endsWith('.java'));
  return file && /^\w+\.java$/.test(file)
    ? found(`java ${file}`, folder.where(file), `${file} is a program of one file`, 0.7)
    : null;
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
