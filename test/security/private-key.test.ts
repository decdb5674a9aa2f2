import { expect, test } from '@jest/globals';
import { makeKeyPair, publicKeyOf } from '../../src/security/private-key.ts';

test('every pair that is made can be read, and its halves belong together', async () => {
  for (let count = 0; count < 1500; count += 1) {
    const { privateKey, publicKey } = await makeKeyPair();
    expect(await publicKeyOf(privateKey)).toEqual({ line: publicKey });
    expect(publicKey).toMatch(/^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43} slipway$/);
  }
});
