import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LocalBench, webApp } from './support/deploy-bench.ts';

let bench: LocalBench;
beforeAll(async () => {
  bench = await LocalBench.start({}, { dockerDiskMb: 2000 });
});
afterAll(() => bench?.stop());

const freeMb = async () => Number(await bench.server.shell(`df -Pm /var/lib/docker | awk 'NR==2 {print $4}'`));

test('a build that fills the disk fails as such, the old page answers, and what it wrote is gone', async () => {
  const { id, path } = await bench.environment('full', webApp('small'));
  expect(await bench.deploy(id)).toMatchObject({ status: 'LIVE' });
  const before = await freeMb();
  const huge = 'FROM node:24-bookworm-slim\nRUN dd if=/dev/zero of=/huge bs=1M count=4000\n';
  bench.git.push(path, webApp('huge', { Dockerfile: huge }), 'huge');
  const failed = await bench.deploy(id);
  expect(failed).toMatchObject({ status: 'FAILED', error: { phase: 'BUILDING', code: 'OUT_OF_DISK' } });
  expect(await bench.page(id)).toBe('200 small');
  expect(before - (await freeMb())).toBeLessThan(50);
});
