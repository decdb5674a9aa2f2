import { fallbackVersion, versionInFile } from '../declared/versions.ts';
import { candidates, found } from '../finding.ts';
import { type CompiledLanguage, compiledStack } from './compiled.stack.ts';

const scala: CompiledLanguage = {
  language: 'scala',
  packageManager: 'sbt',
  sign: folder =>
    folder.first(['build.sbt', 'project/build.properties', 'project/Build.scala']) ??
    folder.names.find(name => name.endsWith('.sbt')) ??
    null,
  build: () => 'sbt stage',
  start: folder => {
    const text = folder.text('build.sbt') ?? '';
    const script = /executableScriptName\s{0,4}:=\s{0,4}"([\w-]{1,64})"/.exec(text)?.[1];
    const name = /^\s{0,40}(?:ThisBuild\s{0,4}\/\s{0,4})?name\s{0,4}:=\s{0,4}"([\w-]{1,64})"/m.exec(text)?.[1];
    return `./target/universal/stage/bin/${script ?? name?.toLowerCase() ?? 'main'}`;
  },
  framework: folder =>
    /playframework|sbt-plugin/.test(folder.text('project/plugins.sbt') ?? '')
      ? [found('play', folder.where('project/plugins.sbt'), 'it uses the Play plugin', 0.9)]
      : [],
  version: folder => candidates(versionInFile(folder, 'system.properties'), fallbackVersion('21', 'Java')),
  port: 9000,
  cacheFolder: '/root/.cache/coursier',
  buildImage: () => 'sbtscala/scala-sbt:eclipse-temurin-21.0.8_9_1.11.7_3.7.3',
  runtimeImage: () => 'eclipse-temurin:21-jre',
};

export const scalaStack = compiledStack(scala);
