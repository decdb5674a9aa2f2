/**
 * Cuts GitHub's published description down to the routes we call, for the tests:
 *   npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz
 *   node scripts/cut-github-openapi.mjs package
 * The whole package takes 385 MB on disk, which nobody who wants to try Slipway out should have to download.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROUTES = ['/user', '/user/repos', '/repos/{owner}/{repo}', '/repos/{owner}/{repo}/branches'];
const CUTS = [
  ['api.github.com.json', 'test/fixtures/github'],
  ['ghes-3.19.json', 'test/fixtures/github-enterprise'],
];

const [folder = 'package'] = process.argv.slice(2);
for (const [name, target] of CUTS) {
  const whole = JSON.parse(readFileSync(join(folder, 'generated', name), 'utf8'));
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'openapi.json'), `${JSON.stringify(cut(whole), null, 1)}\n`);
}

function cut({ openapi, info, servers, paths, components }) {
  const kept = Object.fromEntries(ROUTES.map(route => [route, { get: paths[route].get }]));
  return { openapi, info, servers, paths: kept, components: referredBy(kept, components) };
}

/** What the routes refer to, and what that refers to. */
function referredBy(root, components) {
  const found = {};
  const open = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    for (const [, room, name] of JSON.stringify(value).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      if (found[room]?.[name] !== undefined) continue;
      found[room] = { ...found[room], [name]: components[room][name] };
      open.push(components[room][name]);
    }
  }
  return found;
}
