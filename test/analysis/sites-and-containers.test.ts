import { expectRow, type Row } from '../support/memory-snapshot.ts';

const sites: Row[] = [
  {
    it: 'plain pages',
    files: { 'index.html': '', 'style.css': '' },
    found: {
      language: 'static',
      isStatic: true,
      outputDirectory: '.',
      builder: 'STATIC',
      port: 8080,
      startCommand: null,
    },
  },
  {
    it: 'pages in a folder',
    files: { 'public/index.html': '' },
    found: { language: 'static', outputDirectory: 'public' },
  },
  {
    it: 'a Staticfile',
    files: { Staticfile: 'root: web\n', 'web/index.html': '' },
    found: { language: 'static', outputDirectory: 'web' },
  },
  {
    it: 'Hugo',
    files: { 'hugo.toml': 'baseURL = "/"\n', 'content/a.md': '' },
    found: { framework: 'hugo', isStatic: true, outputDirectory: 'public' },
  },
  {
    it: 'pages beside tools',
    files: { 'index.html': '', 'package.json': { devDependencies: {} } },
    found: { language: 'static' },
  },
];

const containers: Row[] = [
  {
    it: 'a compose file for databases alone leaves the application to us',
    files: {
      'package.json': { scripts: { start: 'node .' } },
      'compose.yaml': 'services:\n  db:\n    image: postgres\n',
    },
    found: { builder: 'GENERATED', composeFile: 'compose.yaml' },
  },
  {
    it: 'a compose file that builds the parts is how they go together',
    files: {
      'compose.yaml': 'services:\n  web:\n    build: ./web\n  api:\n    build:\n      context: api\n',
      'web/Dockerfile': 'FROM nginx\n',
      'api/Dockerfile': 'FROM node\n',
    },
    found: { builder: 'COMPOSE' },
  },
  {
    it: 'a Dockerfile is taken as it is',
    files: {
      Dockerfile: 'FROM node:24 AS build\nEXPOSE 1\nFROM node:24\nEXPOSE 4000/tcp\n',
      'package.json': { scripts: { start: 'node .' } },
    },
    found: { builder: 'DOCKERFILE', dockerfile: 'Dockerfile', generatedDockerfile: null, port: 4000, language: 'node' },
  },
  {
    it: 'a compose file is taken as it is',
    files: { 'compose.yaml': 'services:\n  web:\n    image: nginx\n' },
    found: { builder: 'COMPOSE', composeFile: 'compose.yaml', language: null },
  },
  {
    it: 'a Dockerfile of one’s own outweighs a compose file for development',
    files: { Dockerfile: 'FROM scratch\n', 'docker-compose.yml': 'services:\n  db:\n    image: postgres\n' },
    found: { builder: 'DOCKERFILE', composeFile: 'docker-compose.yml' },
  },
];

describe('sites without a language', () => {
  test.each(sites)('$it', expectRow);
});

describe('container files', () => {
  test.each(containers)('$it', expectRow);
});
