import { BUILD_KEYS, heldAgainst } from './compose-keys.ts';
import type { ComposeBuild } from './compose-project.ts';
import { readPairs } from './read-pairs.ts';
import { folderOf, insideRepository } from './repository-paths.ts';
import type { Spot } from './spot.ts';

const ARGUMENT = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;

export function readBuild(spot: Spot): ComposeBuild {
  const { file } = spot.reading;
  if (!spot.isMap) {
    const context = insideRepository(spot, folderOf(file), spot.text());
    return { context, dockerfile: 'Dockerfile', dockerfileText: null, args: {}, target: null };
  }
  const fields = heldAgainst(spot, BUILD_KEYS);
  const written = fields.get('context');
  const context = insideRepository(written ?? spot, folderOf(file), written?.text() ?? '.');
  const args = fields.get('args');
  const target = fields.get('target');
  return {
    context,
    ...dockerfileOf(context, fields.get('dockerfile'), fields.get('dockerfile_inline')),
    args: args === undefined ? {} : readArgs(args),
    target: target?.textLike(/^[A-Za-z0-9][\w.-]{0,127}$/, 'the name of a stage') ?? null,
  };
}

/** One that lies in the repository but outside the context is sent along, as the context's own. */
function dockerfileOf(context: string, named: Spot | undefined, inline: Spot | undefined) {
  if (inline !== undefined) return { dockerfile: null, dockerfileText: openly(inline, () => inline.text()) };
  if (named === undefined) return { dockerfile: 'Dockerfile', dockerfileText: null };
  const path = insideRepository(named, context, named.text());
  const prefix = context === '' ? '' : `${context}/`;
  if (path.startsWith(prefix)) return { dockerfile: path.slice(prefix.length), dockerfileText: null };
  const text = named.reading.open(path);
  if (text === null) return named.refuse('names a file that is not in the repository');
  return { dockerfile: null, dockerfileText: text };
}

/** What stands in an image is no place for a secret. */
function openly<Value>(spot: Spot, read: () => Value): Value {
  const [value, secrets] = spot.reading.secretsUsedBy(read);
  if (secrets.length > 0)
    spot.refuse(
      `puts the secret variable ${secrets[0]} where everybody who has the image can read it`,
      'Mount it in the Dockerfile instead (RUN --mount=type=secret,id=NAME), or save the variable as one that is not secret.',
    );
  return value;
}

function readArgs(spot: Spot): Record<string, string> {
  const args = openly(spot, () => readPairs(spot));
  for (const key of Object.keys(args)) {
    if (!ARGUMENT.test(key)) spot.refuse('has an argument whose name is not made of letters, digits and _');
    if (/^BUILDKIT_/i.test(key)) spot.refuse('has an argument that would change the builder itself');
  }
  return args;
}
