import { parseDotenv } from './dotenv.ts';
import { folderOf, insideRepository } from './repository-paths.ts';
import type { Spot } from './spot.ts';

/** Files of variables in the repository. Most are kept out of it, for good reasons: then the environment has the variables. */
export function readEnvFiles(spot: Spot): Record<string, string> {
  const values: Record<string, string> = {};
  for (const each of spot.isList ? spot.list() : [spot]) Object.assign(values, readOne(each));
  return values;
}

function readOne(spot: Spot): Record<string, string> {
  const path = insideRepository(spot, folderOf(spot.reading.file), pathOf(spot).text());
  const text = spot.reading.open(path);
  if (text !== null) return parseDotenv(text);
  spot.warn('names a file that is not in the repository: the variables of the environment are given instead');
  return {};
}

function pathOf(spot: Spot): Spot {
  if (!spot.isMap) return spot;
  const fields = new Map(spot.fields());
  const unknown = [...fields.keys()].find(key => !['path', 'required', 'format'].includes(key));
  if (unknown !== undefined) fields.get(unknown)?.refuse('is not a key that can be used here');
  return fields.get('path') ?? spot.refuse('has no path');
}
