import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cloneOne, listRemote } from '../../src/commands/git.commands.ts';
import {
  isBranchName,
  isRepositoryName,
  parseProviderUrl,
  parseRepositoryUrl,
  siblingOf,
} from '../../src/security/repository-url.ts';

const MANY = { numRuns: 5_000 };
const PAYLOADS = [
  ';',
  '|',
  '&',
  '$()',
  '$(id)',
  '`id`',
  "'",
  '"',
  '\n',
  '\0',
  '--',
  '../',
  '..',
  '%0a',
  ' ',
  '\\',
  '-',
  '~',
];

/** Things that look like what is wanted, with something put in. */
const mutated = (samples: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...samples), fc.nat(60), fc.oneof(fc.constantFrom(...PAYLOADS), fc.string({ maxLength: 3 })))
    .map(([sample, at, payload]) => `${sample.slice(0, at)}${payload}${sample.slice(at)}`);

const anything = (samples: readonly string[]) =>
  fc.oneof(fc.string({ maxLength: 60 }), mutated(samples), mutated(samples));

describe("a repository's address", () => {
  const SAMPLES = [
    'https://example.org/ann/shop.git',
    'https://example.org:8443/a/b/c',
    'ssh://git@example.org:2222/shop.git',
    'git@example.org:ann/shop.git',
    'https://[2001:db8::1]/x',
  ];

  test.each(SAMPLES)('%s is one', text => {
    expect(parseRepositoryUrl(text)?.href).toBe(text);
  });

  test('that passes is one word, no option, and names no password', () => {
    fc.assert(
      fc.property(anything(SAMPLES), text => {
        const url = parseRepositoryUrl(text);
        if (url === undefined) return;
        expect(url.href).toMatch(/^(https:\/\/|ssh:\/\/|[A-Za-z_][\w.-]*@)[\w.~%+@:/[\]-]+$/);
        expect(url.host).not.toMatch(/^-|^\.|\.$/);
        expect(url.path).not.toMatch(/^-/);
        expect(url.href).not.toMatch(/\/\/[^/]*:[^/]*@/);
        expect(decodeURIComponent(url.path.replace(/%[89A-Fa-f]./g, ''))).not.toMatch(/\p{Cc}|(^|\/)\.\.?(\/|$)/u);
      }),
      MANY,
    );
  });

  test.each([
    ['another protocol', 'http://example.org/x'],
    ['a helper', 'ext::sh -c id'],
    ['a file', 'file:///etc/passwd'],
    ['a path', '/srv/git/x.git'],
    ['a password', 'https://ann:secret@example.org/x'],
    ['a name over https', 'https://ann@example.org/x'],
    ['an option', '--upload-pack=id'],
    ['an option as the host', 'ssh://-oProxyCommand=id/x'],
    ['an option as the host, scp-like', 'git@-oProxyCommand:x'],
    ['an option as the path', 'git@example.org:-x'],
    ['an option as the user', 'ssh://-l@example.org/x'],
    ['a way up', 'https://example.org/a/../../x'],
    ['a hidden way up', 'https://example.org/a/%2e%2e/x'],
    ['a hidden line break', 'ssh://git@example.org/x%0ay'],
    ['a query', 'https://example.org/x?y=z'],
    ['a fragment', 'https://example.org/x#y'],
    ['a decimal address', 'https://2130706433/x'],
    ['a hexadecimal address', 'https://0x7f000001/x'],
    ['an octal address', 'https://0177.0.0.1/x'],
    ['a short address', 'https://127.1/x'],
    ['a port that is none', 'https://example.org:99999/x'],
    ['a name that ends in a dot', 'https://localhost./x'],
    ['a blank', 'https://example.org/a b'],
    ['nothing behind the host', 'https://example.org/'],
  ])('is not %s', (_, text) => {
    expect(parseRepositoryUrl(text)).toBeUndefined();
  });

  test('means the same host however it is written', () => {
    expect(parseRepositoryUrl('https://EXAMPLE.org:443//ann/shop')?.href).toBe('https://example.org/ann/shop');
  });
});

describe('another repository of an account', () => {
  const https = 'https://example.org:8443/ann/shop.git';
  const ssh = 'ssh://git@example.org/ann/shop.git';

  test.each([
    [https, 'ann/other.git', 'https://example.org:8443/ann/other.git'],
    [https, 'https://example.org:8443/x', 'https://example.org:8443/x'],
    [ssh, 'ann/other', 'ssh://git@example.org/ann/other'],
    [ssh, 'git@example.org:other', 'git@example.org:other'],
    ['git@example.org:shop', 'other', 'git@example.org:other'],
    [https, 'https://example.org/x', undefined],
    [https, 'https://evil.example/x', undefined],
    [https, '//evil.example/x', 'https://example.org:8443/evil.example/x'],
    [https, 'ssh://example.org:8443/x', undefined],
    [https, '--upload-pack=id', undefined],
    [https, '../x', undefined],
  ])('of %s, %s is %s', (base, repository, expected) => {
    const parsed = parseRepositoryUrl(base);
    expect(parsed && siblingOf(parsed, repository)?.href).toBe(expected);
  });

  test('is never on another server', () => {
    const base = parseRepositoryUrl(https);
    fc.assert(
      fc.property(anything(['ann/other.git', https, ssh]), text => {
        const other = base && siblingOf(base, text);
        if (other) expect(new URL(other.href).host).toBe('example.org:8443');
      }),
      MANY,
    );
  });
});

describe("a provider's address", () => {
  test.each([
    ['https://git.example.org', 'https://git.example.org'],
    ['https://git.example.org/', 'https://git.example.org'],
    ['https://Example.org:8443/gitlab//', 'https://example.org:8443/gitlab'],
    ['http://git.example.org', undefined],
    ['https://ann:secret@git.example.org', undefined],
    ['https://git.example.org?x=y', undefined],
    ['https://git.example.org/#x', undefined],
    ['https://git.example.org\\@evil.example', undefined],
    ['javascript:alert(1)', undefined],
    ['git.example.org', undefined],
  ])('%s is %s', (text, expected) => {
    expect(parseProviderUrl(text)).toBe(expected);
  });
});

describe('a branch', () => {
  const SAMPLES = ['main', 'feature/login', 'release-1.2', 'user@fix', 'a_b'];

  test.each(SAMPLES)('can be %s', name => {
    expect(isBranchName(name)).toBe(true);
  });

  test.each([
    '--upload-pack=id',
    '-x',
    '',
    'a b',
    'a..b',
    'a//b',
    'a/',
    '/a',
    'a.lock',
    'x/.y',
    'a@{1}',
    '$(id)',
    'a\nb',
    'a.',
  ])('cannot be %j', name => {
    expect(isBranchName(name)).toBe(false);
  });

  test('that passes stays inside its word, and the word count never changes', () => {
    const remote = { url: 'https://example.org/x', pin: null, caFile: null };
    const usual = cloneOne(remote, 'main', '/tmp/x').words.length;
    fc.assert(
      fc.property(anything(SAMPLES), name => {
        if (!isBranchName(name)) return;
        expect(name).toMatch(/^[A-Za-z0-9_][\w./+@#=-]*$/);
        const { words } = cloneOne(remote, name, '/tmp/x');
        expect(words).toHaveLength(usual);
        expect(words).toContain(`--branch=${name}`);
        expect(words.slice(-3)).toEqual(['--', remote.url, '/tmp/x']);
      }),
      MANY,
    );
  });
});

test("a repository's name at a provider climbs nowhere", () => {
  fc.assert(
    fc.property(anything(['ann/shop', 'group/sub/shop', 'a.b/c-d']), name => {
      if (isRepositoryName(name)) expect(name).toMatch(/^(?!\.{1,2}(\/|$))[\w.-]+(\/(?!\.{1,2}(\/|$))[\w.-]+)+$/);
    }),
    MANY,
  );
});

test('a whole command line: options first, then the operands behind --', () => {
  const remote = { url: 'https://example.org/x', pin: 'example.org:443:192.0.2.1', caFile: '/tmp/ca.pem' };
  expect(String(listRemote(remote))).toBe(
    [
      'git -c core.hooksPath=/dev/null -c protocol.allow=never -c protocol.https.allow=always',
      '-c protocol.ssh.allow=always -c http.followRedirects=false -c http.proxy= -c credential.helper=',
      '-c http.lowSpeedLimit=1 -c http.lowSpeedTime=60 -c core.symlinks=false -c submodule.recurse=false -c fetch.fsckObjects=false',
      '-c http.curloptResolve=example.org:443:192.0.2.1 -c http.sslCAInfo=/tmp/ca.pem',
      "ls-remote --symref -- https://example.org/x HEAD 'refs/heads/*'",
    ].join(' '),
  );
});
