import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ConfigFault, readConfig } from '../../src/config.ts';
import { readAuthorities } from '../../src/security/authorities.ts';
import { Outbound } from '../../src/security/outbound.ts';
import { makeCertificate } from '../support/certificate.ts';
import { TestApp } from '../support/create-app.ts';

const folder = mkdtempSync(join(tmpdir(), 'slipway-authorities-'));
const written = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

let cert: string;
beforeAll(() => {
  ({ cert } = makeCertificate(folder));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('authorities of your own', () => {
  test('are read from a file of one or several, with or without words between them', () => {
    expect(readAuthorities(join(folder, 'cert.pem'))).toBe(cert.trim());
    const two = readAuthorities(written('two.pem', `# Inner\n${cert}\n# Outer\n${cert}`));
    expect(two.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  });

  test('stand beside the well-known ones', () => {
    const { authorities } = new Outbound({ allow: [], authorities: cert });
    expect(authorities?.match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(100);
    expect(authorities).toContain(cert.trim());
  });

  test.each([
    ['that is not there', () => join(folder, 'nowhere.pem'), 'cannot be read'],
    ['without a certificate', () => written('empty.pem', 'nothing'), 'without a certificate'],
    ['with the key instead', () => join(folder, 'key.pem'), 'without a certificate'],
    [
      'with a broken one',
      () => written('broken.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'),
      'broken',
    ],
  ])('from a file %s stop the start with a reason', async (_, file, reason) => {
    const start = TestApp.start({ OUTBOUND_CA_FILE: file() });
    await expect(start).rejects.toThrow(ConfigFault);
    await expect(start).rejects.toThrow(`OUTBOUND_CA_FILE: names a file`);
    await expect(start).rejects.toThrow(reason);
  });
});

test.each(['10.0.0.0/33', '::1/129', '10.0.0.0/', 'example.org', '10.0.0.0/8/8', '300.0.0.1'])(
  'OUTBOUND_ALLOW takes no %s',
  text => {
    expect(() => readConfig({ OUTBOUND_ALLOW: text })).toThrow(/OUTBOUND_ALLOW/);
    expect(() => readConfig({ OUTBOUND_ALLOW: `10.0.0.0/8, fd00::/8, 192.0.2.1,${text}` })).toThrow(/OUTBOUND_ALLOW/);
  },
);

test('OUTBOUND_ALLOW takes addresses and ranges of both kinds', () => {
  expect(readConfig({ OUTBOUND_ALLOW: '10.0.0.0/8, fd00::/8, 192.0.2.1' }).outboundAllow).toHaveLength(3);
});
