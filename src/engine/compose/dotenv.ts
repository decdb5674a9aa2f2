const LINE = /^[ \t]{0,8}(?:export[ \t]{1,8})?([A-Za-z_][A-Za-z0-9_.-]{0,255})[ \t]{0,8}=(.*)$/;
const QUOTED = /^[ \t]*(?:'([^']*)'|"((?:[^"\\]|\\.)*)")[ \t]*(?:#.*)?$/;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

/** What a file of variables says, one on each line. Values are taken as they stand: no variables are put into them. */
export function parseDotenv(text: string): Record<string, string> {
  const values = new Map<string, string>();
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const [, key, written = ''] = LINE.exec(line) ?? [];
    if (key !== undefined) values.set(key, plainValue(written));
  }
  return Object.fromEntries(values);
}

function plainValue(written: string): string {
  const [whole, single, double] = QUOTED.exec(written) ?? [];
  if (whole !== undefined && single !== undefined) return single;
  if (whole !== undefined && double !== undefined)
    return double.replace(/\\(.)/g, (pair, escaped: string) => ESCAPES[escaped] ?? pair);
  const comment = /(?:^|[ \t])#/.exec(written);
  return (comment === null ? written : written.slice(0, comment.index)).trim();
}
