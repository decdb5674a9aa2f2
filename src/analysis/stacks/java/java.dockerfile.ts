import { major } from '../../declared/versions.ts';
import { buildStep } from '../../dockerfile/build-step.ts';
import { addUser } from '../../dockerfile/debian.ts';
import {
  type CacheMount,
  copy,
  dockerfile,
  env,
  from,
  type Instruction,
  run,
  workdir,
} from '../../dockerfile/dockerfile.ts';
import { serve } from '../../dockerfile/serve.ts';
import type { Folder } from '../../repository/folder.ts';
import type { BuildPlan } from '../../stack.ts';
import { currentJava } from './java-version.ts';

export function javaDockerfile(folder: Folder, plan: BuildPlan): string {
  const version = versionFor(plan.languageVersion);
  const isMaven = plan.packageManager === 'maven';
  const wrapper = ['mvnw', 'gradlew'].find(name => folder.has(name));
  const cache = {
    id: `${plan.cacheScope}-${isMaven ? 'm2' : 'gradle'}`,
    target: isMaven ? '/root/.m2' : '/root/.gradle',
  };
  return dockerfile(
    from(buildImage(folder, plan, version), 'build'),
    workdir('/app'),
    ...dependenciesFirst(folder, plan, cache),
    copy(['.'], './'),
    // Checked out on Windows, a wrapper has lost the right to be run.
    wrapper !== undefined && run(`chmod +x ${wrapper}`),
    ...buildStep(plan, cache),
    run(`find . -type f ${leftovers} -delete`),

    from(`eclipse-temurin:${version}-${plan.packageManager === null ? 'jdk' : 'jre'}`, 'runtime'),
    workdir('/app'),
    addUser(),
    env({
      PORT: plan.port,
      SERVER_PORT: plan.port,
      QUARKUS_HTTP_PORT: plan.framework === 'quarkus' ? plan.port : null,
      JAVA_TOOL_OPTIONS: '-XX:MaxRAMPercentage=75',
    }),
    copy(['/app'], '/app', { from: 'build', owner: 'app:app' }),
    ...serve('app', plan),
  );
}

/** Jars beside the program that a pattern in the start command would find as well. */
const leftovers =
  "'(' -name '*-sources.jar' -o -name '*-javadoc.jar' -o -name '*-tests.jar' -o -name '*-plain.jar' -o -name 'original-*.jar' ')'";

/** Long-term versions have both images; anything else is built with the next one up, which runs it. */
function versionFor(wanted: string | null): string {
  const number = Number(major(wanted ?? currentJava));
  return String([8, 11, 17, 21, 25].find(version => version >= number) ?? currentJava);
}

/** The wrapper fetches the tool it was made for; without one the image brings it. */
function buildImage(folder: Folder, plan: BuildPlan, version: string): string {
  if (plan.packageManager === 'maven' && !folder.has('mvnw')) return `maven:3-eclipse-temurin-${version}`;
  if (plan.packageManager === 'gradle' && !folder.has('gradlew')) return `gradle:jdk${version}`;
  return `eclipse-temurin:${version}-jdk`;
}

/** A build of one module can fetch by its manifests alone; with several, every one of them would have to be there. */
function dependenciesFirst(folder: Folder, plan: BuildPlan, cache: CacheMount): Instruction[] {
  const isMaven = plan.packageManager === 'maven';
  const text = isMaven
    ? (folder.text('pom.xml') ?? '<module>')
    : (folder.text('settings.gradle') ?? folder.text('settings.gradle.kts') ?? '');
  if (plan.packageManager === null || /<module>|\binclude/.test(text)) return [];
  const wrapper = folder.first(isMaven ? ['mvnw'] : ['gradlew']);
  const files = isMaven
    ? ['pom.xml']
    : ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'gradle.properties'];
  const folders = (isMaven ? ['.mvn'] : ['gradle']).filter(name => folder.hasFolder(name));
  const program = wrapper === null ? (isMaven ? 'mvn' : 'gradle') : `sh ./${wrapper}`;
  return [
    copy([...(wrapper === null ? [] : [wrapper]), ...files.filter(name => folder.has(name))], './'),
    ...folders.map(name => copy([name], `./${name}`)),
    run(isMaven ? `${program} -B -q dependency:go-offline` : `${program} --no-daemon -q dependencies`, cache),
  ];
}
