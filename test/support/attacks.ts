/** What has been put into shells, paths, options and addresses of others. */
const attacksOn = (sentinel: string): string[] => [
  ...[
    ';',
    '|',
    '&',
    '&&',
    '$',
    '`',
    "'",
    '"',
    '\\',
    '\n',
    '\r\n',
    '\0',
    ' ',
    '\t',
    '%0a',
    '%00',
    '%2e%2e%2f',
    '../',
    '/..',
  ],
  ...[
    '--',
    '-',
    '--upload-pack=',
    '-u',
    '-oProxyCommand=',
    '--config=',
    '~',
    '*',
    '?',
    '#',
    '@{',
    '..',
    '.lock',
    '\u2028',
  ],
  ...[
    `$(touch ${sentinel})`,
    `\`touch ${sentinel}\``,
    `;touch ${sentinel};`,
    `|touch ${sentinel}`,
    `--upload-pack=touch ${sentinel}`,
  ],
  ...[`ext::sh -c touch% ${sentinel}`, `file://${sentinel}`, 'http://localhost', '@evil.example', ':evil'],
  ...[
    `\n touch ${sentinel} #`,
    `$'\\x3btouch ${sentinel}'`,
    `<(touch ${sentinel})`,
    `$${'{IFS}'}`,
    '%{ProxyCommand}',
    '\u001b[2J',
    '\u202e',
  ],
];

/** Each alone, before, behind and inside something good. Those that are executed make the sentinel. */
export const payloadsOf = (good: string, sentinel: string): string[] =>
  attacksOn(sentinel).flatMap(attack => {
    const middle = Math.floor(good.length / 2);
    const inside = `${good.slice(0, middle)}${attack}${good.slice(middle)}`;
    return [attack, `${attack}${good}`, `${good}${attack}`, inside, `${attack}${good}${attack}`, `${attack}${attack}`];
  });
