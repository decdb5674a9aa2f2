/** What has been put into shells, options, paths and addresses of others, in front of, behind and inside of what looks harmless. */
export function payloads(sentinel: string): string[] {
  const orders = [
    `touch ${sentinel}`,
    `$(touch ${sentinel})`,
    `\`touch ${sentinel}\``,
    `\${IFS}touch\${IFS}${sentinel}`,
    `>${sentinel}`,
  ];
  const breaks = [
    ';',
    '|',
    '||',
    '&',
    '&&',
    '\n',
    '\r\n',
    "'",
    '"',
    "';",
    '";',
    '`',
    '$(',
    ')',
    '\\',
    '\t',
    ' ',
    '#',
    '%0a',
    '%00',
    '\v',
    '$',
    '${',
    '<',
    '>',
    '(',
    '*',
  ];
  const marks = [
    '--',
    '-',
    '--upload-pack=',
    '-oProxyCommand=',
    '--config=',
    '-c',
    '../',
    '/etc/passwd',
    '~',
    '*',
    '?',
    '!',
    '{a,b}',
  ];
  const joined = breaks.flatMap(mark => orders.flatMap(order => [`${mark}${order}`, `name${mark}${order}${mark}`]));
  const optional = marks.flatMap(mark => [mark, `${mark}${sentinel}`, `name${mark}`, `${mark} touch ${sentinel}`]);
  return [
    ...new Set([
      ...joined,
      ...optional,
      ...orders,
      '',
      ' ',
      '=',
      'a=b',
      '\u2028',
      '\u{1F6A2}',
      '-n',
      '$0',
      '$@',
      '"$@"',
    ]),
  ];
}
