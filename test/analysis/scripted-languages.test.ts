import { portOr } from '../../src/analysis/stack.ts';
import { expectRow, type Row } from '../support/memory-snapshot.ts';

const scripted: Row[] = [
  {
    it: 'Rails',
    files: {
      Gemfile: 'ruby "3.3.0"\ngem "rails"\ngem "propshaft"\ngem "pg"\n',
      'config/application.rb': '',
      'bin/rails': '',
    },
    found: {
      language: 'ruby',
      framework: 'rails',
      packageManager: 'bundler',
      languageVersion: '3.3.0',
      startCommand: `bundle exec bin/rails server -b 0.0.0.0 -p ${portOr(3000)}`,
      buildCommand: 'bundle exec rake assets:precompile',
      port: 3000,
    },
  },
  {
    it: 'Rack',
    files: { Gemfile: 'gem "rack"\n', 'config.ru': '' },
    found: { startCommand: `bundle exec rackup config.ru -o 0.0.0.0 -p ${portOr(3000)}` },
  },
  {
    it: 'Sinatra',
    files: { Gemfile: "gem 'sinatra'\n", 'app.rb': '' },
    found: { framework: 'sinatra', startCommand: 'bundle exec ruby app.rb' },
  },
  {
    it: 'Jekyll is a site',
    files: { Gemfile: 'gem "jekyll"\n', '_config.yml': 'destination: ./out\n' },
    found: { language: 'ruby', framework: 'jekyll', isStatic: true, outputDirectory: 'out' },
  },
  {
    it: 'a Gemfile for a phone is no Ruby application',
    files: { Gemfile: 'gem "fastlane"\n', 'ios/x': '', 'package.json': { dependencies: { next: '15' } } },
    found: { language: 'node' },
  },
  {
    it: 'Laravel beside its assets',
    files: {
      'composer.json': { require: { php: '^8.2', 'laravel/framework': '^12' } },
      artisan: '',
      'package.json': { scripts: { build: 'vite build', dev: 'vite' }, devDependencies: { vite: '6' } },
      'vite.config.js': '',
    },
    found: {
      language: 'php',
      framework: 'laravel',
      packageManager: 'composer',
      languageVersion: '8.4',
      isStatic: false,
      releaseCommand: 'php artisan migrate --force',
    },
  },
  {
    it: 'Symfony',
    files: { 'composer.json': { require: { 'symfony/framework-bundle': '7' } }, 'public/index.php': '' },
    found: { framework: 'symfony' },
  },
  { it: 'plain PHP', files: { 'htdocs/index.php': '' }, found: { language: 'php', packageManager: null } },
  {
    it: 'Phoenix',
    files: {
      'mix.exs': 'def project, do: [app: :hello, elixir: "~> 1.15"]\n{:phoenix, "~> 1.7"}\n"assets.deploy": []',
    },
    found: {
      language: 'elixir',
      framework: 'phoenix',
      packageManager: 'mix',
      startCommand: '/app/_build/prod/rel/hello/bin/hello start',
      port: 4000,
    },
  },
  {
    it: 'Deno',
    files: { 'deno.jsonc': '{ // tools\n "imports": {"@oak/oak": "jsr:@oak/oak"} }', 'main.ts': '' },
    found: { language: 'deno', framework: 'oak', startCommand: 'deno run --allow-all main.ts' },
  },
  {
    it: 'a script',
    files: { 'start.sh': '#!/usr/bin/env bash\necho hi' },
    found: { language: 'shell', startCommand: 'bash start.sh' },
  },
];

describe('scripted languages', () => {
  test.each(scripted)('$it', expectRow);
});
