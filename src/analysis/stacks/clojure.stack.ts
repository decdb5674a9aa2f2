import { type CompiledLanguage, compiledStack } from './compiled.stack.ts';

const clojure: CompiledLanguage = {
  language: 'clojure',
  packageManager: 'lein',
  sign: folder => folder.first(['project.clj']),
  build: () => 'lein uberjar',
  start: () => 'java $JAVA_OPTS -jar target/*standalone.jar',
  startConfidence: 0.75,
  install: 'lein deps',
  manifests: ['project.clj'],
  buildImage: () => 'clojure:temurin-21-lein',
  runtimeImage: () => 'eclipse-temurin:21-jre',
};

const clojureByTools: CompiledLanguage = {
  ...clojure,
  packageManager: 'tools.deps',
  sign: folder => folder.first(['deps.edn', 'build.clj']),
  build: folder => (folder.has('build.clj') ? 'clojure -T:build uber' : 'clojure -P'),
  start: folder => (folder.has('build.clj') ? 'java $JAVA_OPTS -jar target/*.jar' : 'clojure -M:run'),
  install: 'clojure -P',
  manifests: ['deps.edn'],
  buildImage: () => 'clojure:temurin-21-tools-deps',
  runtimeImage: () => 'clojure:temurin-21-tools-deps',
};

export const clojureStacks = [compiledStack(clojure), compiledStack(clojureByTools)];
