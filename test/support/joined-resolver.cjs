/** Gives Jest the joined form of a package where joined-packages.ts has made one. */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

let joined;

function joinedFiles() {
  const folder = process.env.SLIPWAY_JOINED_PACKAGES;
  if (folder === undefined) return {};
  joined ??= JSON.parse(readFileSync(join(folder, 'joined.json'), 'utf8'));
  return joined;
}

module.exports = (path, options) => {
  const found = options.defaultResolver(path, options);
  return joinedFiles()[found] ?? found;
};
