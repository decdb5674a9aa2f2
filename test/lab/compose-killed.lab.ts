import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { composeShop } from './support/compose-shop.ts';
import type { DeploymentAnswer } from './support/deploy-bench.ts';
import { PHASES } from './support/kill-in-phase.ts';
import { KilledSite } from './support/killed-site.ts';
import { Prober } from './support/prober.ts';

let site: KilledSite;
let id: string;
let path: string;
beforeAll(async () => {
  site = await KilledSite.start();
  ({ id, path } = await site.bench.environment('composed', composeShop({ text: 'first' })));
  await site.bench.rest('PATCH', `/environments/${id}`, { preDeployCommand: 'sleep 2' });
  expect(await site.bench.deploy(id)).toMatchObject({ status: 'LIVE' });
});
afterAll(() => site?.stop());

const counted = async (): Promise<number> => Number((await site.bench.page(id)).split(' ').at(-1));

test.each(PHASES)(
  'killed in %s, a compose file goes live all the same, its job runs once, nothing is left',
  async phase => {
    const { bench } = site;
    const before = await counted();
    const prober = new Prober((await bench.get(id)).url ?? '', 10);
    bench.git.push(path, composeShop({ text: phase }), phase);
    const asked = await bench.rest<DeploymentAnswer>('POST', `/environments/${id}/deployments`, {});
    await site.killIn(asked.body.id, phase);
    await site.comeBack();
    expect(await bench.finished(id, asked.body.id)).toMatchObject({ status: 'LIVE', error: null });
    await prober.stop();
    expect(prober.failures).toEqual([]);
    expect(await bench.page(id)).toBe(`200 ${phase} hello api-${phase}-keyless ${before + 1}`);
    const label = `label=slipway.environment=${id}`;
    const list = (...words: string[]) => bench.server.exec('docker', ...words, '--filter', label);
    const containers = await list('ps', '--all', '--format', '{{.Names}}');
    expect(containers.split('\n').sort()).toEqual(
      [`slipway-${asked.body.id}`, `slipway-${asked.body.id}-api`, `slipway-${id}-store`].sort(),
    );
    const networks = await list('network', 'ls', '--format', '{{.Name}}');
    expect(networks.split('\n').sort()).toEqual([`slipway-${asked.body.id}`, `slipway-${id}`].sort());
    expect(await bench.server.shell('ls /var/tmp/slipway-* 2>/dev/null || true')).toBe('');
  },
);
