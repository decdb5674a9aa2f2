import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AddressRules } from '../../src/security/addresses.ts';
import { AnswerTooLarge, Outbound, type OutboundOptions, OutboundRefused } from '../../src/security/outbound.ts';

const LOOPBACK = { address: '127.0.0.1', family: 4 };
const METADATA = { address: '169.254.169.254', family: 4 };

let server: Server;
let port: number;
const hits: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    hits.push(request.url ?? '');
    if (request.url === '/never') return;
    if (request.url === '/drip') return void response.write('a');
    if (request.url === '/away')
      return void response.writeHead(302, { location: `http://127.0.0.1:${port}/inner` }).end();
    if (request.url === '/bomb')
      return void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1024 * 1024)));
    response.writeHead(200, { connection: 'close' }).end('hello');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
});

async function withOutbound<Result>(
  options: Partial<OutboundOptions>,
  work: (outbound: Outbound) => Promise<Result>,
): Promise<Result> {
  const outbound = new Outbound({ allow: [], authorities: undefined, ...options });
  try {
    return await work(outbound);
  } finally {
    await outbound.close();
  }
}

/** The reason behind undici's "fetch failed". */
const reasonOf = (error: unknown): unknown => (error instanceof Error && error.cause ? reasonOf(error.cause) : error);

const refusal = (url: string, options: Partial<OutboundOptions> = {}): Promise<unknown> =>
  withOutbound(options, outbound => outbound.fetch(url).then(response => response.status, reasonOf));

describe('addresses', () => {
  const strict = new AddressRules([]);
  const generous = new AddressRules(['0.0.0.0/0', '::/0']);

  test.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '172.31.255.255', '192.168.1.1', '198.18.0.1', '224.0.0.1'],
    ...[
      '255.255.255.255',
      '192.0.2.1',
      '::',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:a00:1',
      '::127.0.0.1',
    ],
    ...['64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::1', '2002:7f00:1::', '2001:0:1::1', 'fc00::1', 'fd12::1'],
    ...['fec0::1', 'ff02::1', '2001:db8::1', '::ffff:0:127.0.0.1'],
  ])('%s is private, and can be allowed', address => {
    expect(strict.refusalOf(address)).toMatch('OUTBOUND_ALLOW');
    expect(generous.refusalOf(address)).toBeUndefined();
  });

  test.each([
    ...['169.254.169.254', '169.254.170.2', '169.254.0.23', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
    ...[
      'fd00:ec2::254',
      'fd20:ce::254',
      'fe80::a9fe:a9fe',
      'fe80::1%eth0',
      '::ffff:169.254.169.254',
      '::ffff:a9fe:a9fe',
    ],
    ...['64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1', '::a9fe:a9fe', '2001:0:1:2:3:4:5601:5601'],
  ])('%s is never reached, whatever is allowed', address => {
    expect(strict.refusalOf(address)).toMatch('metadata');
    expect(generous.refusalOf(address)).toMatch('metadata');
  });

  test.each(['8.8.8.8', '140.82.121.3', '2606:50c0:8000::153', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
    '%s is public',
    address => {
      expect(strict.refusalOf(address)).toBeUndefined();
    },
  );

  test('one network is allowed, its neighbours are not', () => {
    const rules = new AddressRules(['10.1.0.0/16', 'fd00:1::/32']);
    expect(rules.refusalOf('10.1.255.255')).toBeUndefined();
    expect(rules.refusalOf('::ffff:10.1.0.1')).toBeUndefined();
    expect(rules.refusalOf('10.2.0.0')).toBeDefined();
    expect(rules.refusalOf('fd00:1::1')).toBeUndefined();
    expect(rules.refusalOf('fd00:2::1')).toBeDefined();
  });
});

describe('a request', () => {
  test.each([
    ['http://127.0.0.1:PORT/'],
    ['http://localhost:PORT/'],
    ['http://2130706433:PORT/'],
    ['http://0x7f000001:PORT/'],
    ['http://0177.0.0.1:PORT/'],
    ['http://127.1:PORT/'],
    ['http://0:PORT/'],
    ['http://[::ffff:127.0.0.1]:PORT/'],
    ['http://[::ffff:7f00:1]:PORT/'],
    ['http://[::1]:PORT/'],
    ['http://169.254.169.254/latest/meta-data/'],
  ])('to %s is refused', async url => {
    hits.length = 0;
    expect(await refusal(url.replace('PORT', String(port)))).toBeInstanceOf(OutboundRefused);
    expect(hits).toEqual([]);
  });

  test('goes where an operator allows it', async () => {
    expect(await refusal(`http://127.0.0.1:${port}/`, { allow: ['127.0.0.0/8'] })).toBe(200);
  });

  test('to metadata stays refused where everything is allowed', async () => {
    const options = { allow: ['0.0.0.0/0'] };
    expect(await refusal('http://169.254.169.254/latest/meta-data/', options)).toBeInstanceOf(OutboundRefused);
    expect(await refusal('http://[::ffff:a9fe:a9fe]/', options)).toBeInstanceOf(OutboundRefused);
  });

  test('to a name is refused when one of its addresses is private', async () => {
    const lookup = async () => [{ address: '140.82.121.3', family: 4 }, LOOPBACK];
    expect(await refusal(`http://mixed.slipway.test:${port}/`, { lookup })).toBeInstanceOf(OutboundRefused);
  });

  test('to a name without an address fails', async () => {
    expect(await refusal('http://nowhere.slipway.test/', { lookup: async () => [] })).toMatchObject({
      code: 'ENOTFOUND',
    });
  });

  test.each(['file:///etc/passwd', 'ftp://127.0.0.1/', 'gopher://127.0.0.1/'])('speaks no %s', async url => {
    expect(await refusal(url)).toBeInstanceOf(OutboundRefused);
  });

  test('goes to the address that was checked: a name that changes its mind gains nothing', async () => {
    const answers = [LOOPBACK, METADATA];
    const asked: string[] = [];
    const lookup = async (host: string) => {
      asked.push(host);
      return [answers.shift() ?? METADATA];
    };
    await withOutbound({ allow: ['127.0.0.0/8'], lookup }, async outbound => {
      const url = `http://rebinding.slipway.test:${port}/`;
      expect(await (await outbound.fetch(url)).text()).toBe('hello');
      expect(asked).toEqual(['rebinding.slipway.test']);
      expect(await outbound.fetch(url).catch(reasonOf)).toBeInstanceOf(OutboundRefused);
    });
  });

  test('follows no redirect', async () => {
    hits.length = 0;
    expect(await refusal(`http://127.0.0.1:${port}/away`, { allow: ['127.0.0.0/8'] })).toBe(302);
    expect(hits).toEqual(['/away']);
  });

  test('takes no more than so many bytes, counted after decompression', async () => {
    await withOutbound({ allow: ['127.0.0.0/8'], maxAnswerBytes: 100_000 }, async outbound => {
      const response = await outbound.fetch(`http://127.0.0.1:${port}/bomb`);
      expect(await response.text().catch(reasonOf)).toBeInstanceOf(AnswerTooLarge);
    });
  });

  test.each(['/never', '/drip'])('waits no longer than so long for %s', async path => {
    await withOutbound({ allow: ['127.0.0.0/8'], timeoutMs: 200 }, async outbound => {
      const reading = outbound.fetch(`http://127.0.0.1:${port}${path}`).then(response => response.text());
      expect(await reading.catch(reasonOf)).toMatchObject({ name: expect.stringMatching(/Timeout/) });
    });
  });
});
