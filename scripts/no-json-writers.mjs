/** Stands in the bundle for fast-json-stringify, which graphql-jit takes only when told to write the JSON, too: we write it ourselves. */
export default function stringifierOf() {
  throw new Error('no writers are compiled here: take fast-json-stringify back into scripts/build.mjs');
}
