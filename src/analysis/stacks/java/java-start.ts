import { type Candidates, candidates, type Found, found } from '../../finding.ts';
import type { Folder } from '../../repository/folder.ts';
import { type JavaBuild, javaBuildOf } from './java-build.ts';

/** Gradle's application plugin leaves a script beside the libraries; its jar alone cannot start. */
export function isDistribution(folder: Folder): boolean {
  const text = javaBuildOf(folder)?.mentions ?? '';
  return (
    /^\s{0,8}(?:id\s{0,4}\(?['"]application['"]|application\s{0,4}$|apply plugin:\s{0,4}['"]application['"])/m.test(
      text,
    ) && !/springframework\.boot|shadow|quarkus|io\.ktor\.plugin/.test(text)
  );
}

export function javaStartOf(folder: Folder, build: JavaBuild | null, framework: string | null): Candidates<string> {
  if (build === null) return candidates(singleProgram(folder));
  const home = build.module === '' ? '' : `${build.module}/`;
  const start = build.tool === 'maven' ? mavenStart(home, framework) : gradleStart(folder, home, framework);
  return [found(start, folder.where(build.file), 'the build puts the program there', 0.88)];
}

function mavenStart(home: string, framework: string | null): string {
  if (framework === 'quarkus') return `java $JAVA_OPTS -jar ${home}target/quarkus-app/quarkus-run.jar`;
  return `java ${portOption(framework)}$JAVA_OPTS -jar ${home}target/*jar`;
}

function gradleStart(folder: Folder, home: string, framework: string | null): string {
  if (framework === 'quarkus') return `java $JAVA_OPTS -jar ${home}build/quarkus-app/quarkus-run.jar`;
  const name = projectName(folder);
  if (isDistribution(folder) && name !== null) return `./${home}build/install/${name}/bin/${name}`;
  return `java $JAVA_OPTS -jar ${portOption(framework)}$(ls -1 ${home}build/libs/*jar | grep -v plain)`;
}

/** Those that take the port as an option and not from the environment. */
function portOption(framework: string | null): string {
  if (framework === 'spring-boot') return '-Dserver.port=$PORT ';
  return framework === 'wildfly-swarm' ? '-Dswarm.http.port=$PORT ' : '';
}

function projectName(folder: Folder): string | null {
  const settings = folder.text('settings.gradle') ?? folder.text('settings.gradle.kts') ?? '';
  return /^rootProject\.name\s{0,4}=\s{0,4}['"]([\w.-]{1,100})['"]/m.exec(settings)?.[1] ?? null;
}

/** A single file needs no build: Java runs it from its source, or as it was packaged elsewhere. */
function singleProgram(folder: Folder): Found<string> | null {
  const jar = folder.names.find(name => /^[\w.-]+\.jar$/.test(name));
  if (jar !== undefined) return found(`java $JAVA_OPTS -jar ${jar}`, folder.where(jar), `${jar} is already built`, 0.7);
  const file =
    folder.first(['Main.java', 'App.java', 'Application.java']) ?? folder.names.find(name => name.endsWith('.java'));
  return file && /^\w+\.java$/.test(file)
    ? found(`java ${file}`, folder.where(file), `${file} is a program of one file`, 0.7)
    : null;
}
