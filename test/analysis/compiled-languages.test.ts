import { expectRow, type Row } from '../support/memory-snapshot.ts';

const compiled: Row[] = [
  {
    it: 'Go at the root',
    files: {
      'go.mod': 'module x\n\ngo 1.22\n\nrequire github.com/gin-gonic/gin v1.9.0\n',
      'main.go': 'package main\n',
    },
    found: {
      language: 'go',
      framework: 'gin',
      languageVersion: '1.22',
      startCommand: './out',
      buildCommand: 'go build -ldflags="-w -s" -o out',
    },
  },
  {
    it: 'Go under cmd, the one that serves',
    files: { 'go.mod': 'module x\n', 'cmd/migrate/main.go': '', 'cmd/server/main.go': '' },
    found: { buildCommand: 'go build -ldflags="-w -s" -o out ./cmd/server' },
  },
  {
    it: 'Go in a workspace',
    files: { 'go.work': 'go 1.23\nuse ./api\n', 'api/go.mod': '', 'api/main.go': '', 'shared/go.mod': '' },
    found: { language: 'go', buildCommand: 'go build -ldflags="-w -s" -o out ./api' },
  },
  {
    it: 'Rust',
    files: {
      'Cargo.toml': '[package]\nname = "hello-web"\n[dependencies]\naxum = "0.8"\n',
      'Cargo.lock': '',
      'src/main.rs': '',
    },
    found: { language: 'rust', framework: 'axum', packageManager: 'cargo', startCommand: './bin/hello-web' },
  },
  {
    it: 'Rust, the program meant by default',
    files: {
      'Cargo.toml': '[package]\nname = "x"\ndefault-run = "serve"\n[[bin]]\nname = "tool"\n[[bin]]\nname = "serve"\n',
    },
    found: { startCommand: './bin/serve' },
  },
  {
    it: 'Rust in a workspace',
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\n',
      'crates/lib/Cargo.toml': '[package]\nname = "lib"\n',
      'crates/lib/src/lib.rs': '',
      'crates/app/Cargo.toml': '[package]\nname = "app"\n',
      'crates/app/src/main.rs': '',
    },
    found: { language: 'rust', startCommand: './bin/app' },
  },
  {
    it: 'Maven',
    files: {
      'pom.xml':
        '<project><artifactId>x</artifactId><properties><java.version>17</java.version></properties></project>',
    },
    found: {
      language: 'java',
      packageManager: 'maven',
      languageVersion: '17',
      startCommand: 'java $JAVA_OPTS -jar target/*jar',
    },
  },
  {
    it: 'Spring Boot',
    files: {
      'pom.xml':
        '<project><parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId></parent></project>',
      mvnw: '',
    },
    found: {
      framework: 'spring-boot',
      buildCommand: './mvnw -B -DskipTests package',
      startCommand: 'java -Dserver.port=$PORT $JAVA_OPTS -jar target/*jar',
      port: 8080,
    },
  },
  {
    it: 'the module of Maven that makes the program',
    files: {
      'pom.xml':
        '<project><packaging>pom</packaging><modules><module>core</module><module>web</module></modules></project>',
      'core/pom.xml': '<project/>',
      'web/pom.xml':
        '<project><build><plugins><plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build></project>',
    },
    found: { startCommand: 'java -Dserver.port=$PORT $JAVA_OPTS -jar web/target/*jar' },
  },
  {
    it: 'Gradle with Kotlin',
    files: {
      'build.gradle.kts':
        'plugins {\n  id("org.springframework.boot") version "3.4.0"\n}\njava { toolchain { languageVersion = JavaLanguageVersion.of(21) } }',
      gradlew: '',
    },
    found: { language: 'java', packageManager: 'gradle', framework: 'spring-boot', languageVersion: '21' },
  },
  {
    it: 'Quarkus',
    files: {
      'pom.xml':
        '<project><dependencies><dependency><groupId>io.quarkus</groupId><artifactId>quarkus-rest</artifactId></dependency></dependencies></project>',
    },
    found: { framework: 'quarkus', startCommand: 'java $JAVA_OPTS -jar target/quarkus-app/quarkus-run.jar' },
  },
  {
    it: 'ASP.NET',
    files: {
      'Shop.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><PropertyGroup><TargetFramework>net8.0</TargetFramework></PropertyGroup></Project>',
    },
    found: {
      language: 'dotnet',
      framework: 'aspnet',
      packageManager: 'nuget',
      languageVersion: '8.0',
      startCommand: './out/Shop',
    },
  },
  {
    it: 'the web project of a solution',
    files: {
      'All.sln': '',
      'tool/tool.csproj':
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType></PropertyGroup></Project>',
      'web/web.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"/>',
      'web.Tests/web.Tests.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"/>',
    },
    found: { startCommand: './out/web', framework: 'aspnet' },
  },
  {
    it: 'a program’s own name in .NET',
    files: {
      'x.csproj':
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><AssemblyName>hello</AssemblyName></PropertyGroup></Project>',
    },
    found: { startCommand: './out/hello' },
  },
  {
    it: 'C++ by CMake',
    files: { 'CMakeLists.txt': 'project(demo)\nadd_executable(server main.cc)\n' },
    found: { language: 'cpp', packageManager: 'cmake', startCommand: '/build/server' },
  },
  {
    it: 'Swift',
    files: { 'Package.swift': 'package.vapor', 'Sources/Run/main.swift': '' },
    found: { language: 'swift', framework: 'vapor', startCommand: './.build/release/Run' },
  },
  {
    it: 'Gleam',
    files: { 'gleam.toml': 'name = "x"' },
    found: { language: 'gleam', startCommand: './build/erlang-shipment/entrypoint.sh run' },
  },
  {
    it: 'Scala',
    files: { 'build.sbt': 'name := "Shop"\n' },
    found: { language: 'scala', packageManager: 'sbt', startCommand: './target/universal/stage/bin/shop' },
  },
];

describe('compiled languages', () => {
  test.each(compiled)('$it', expectRow);
});
