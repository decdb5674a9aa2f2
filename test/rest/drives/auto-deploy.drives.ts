import { fromGitHub, sha } from '../../support/push-payloads.ts';
import type { Driver } from './driver.ts';

interface Delivered {
  id: string;
}

/** On an environment of its own: what is pushed to it is deployed. */
export async function driveAutoDeploy(driver: Driver, place: { projectId: string; serverId: string }): Promise<void> {
  const wish = { token: driver.person.token, body: { ...place, name: 'Pushed', branch: 'main' } };
  const { id } = (await driver.app.rest<Delivered>('POST', '/environments', wish)).body;
  const params = { id };
  const body = { enabled: true, autoDeployBy: 'BY_HAND', watchPaths: ['src/**'], rotateSecret: true };
  const { hookSecret } = (await driver.drive<{ hookSecret: string }>('setAutoDeploy', { params, body })).body;
  await driver.refuse('setAutoDeploy', 400, { params, body: { ...body, watchPaths: ['../x'] } }, 'a path outside');
  await driver.refuse('setAutoDeploy', 400, { params, body: { ...body, autoDeployBy: 'WEBHOOK' } }, 'nobody to tell');
  const { id: deliveryId } = await driveHook(driver, id, hookSecret);
  await driver.drive('hookDeliveries', { params, query: { limit: '1' } });
  await driver.drive('redeliverHook', { params: { id, deliveryId } });
  await driver.drive('setAutoDeploy', { params, body: { enabled: false } });
}

/** Its bodies are the providers', and prove by a signature who sends them. */
async function driveHook({ app, check }: Driver, id: string, secret: string): Promise<Delivered> {
  const path = `/hooks/git/${id}`;
  const send = async (status: number, spec: object) => {
    const { headers, body } = fromGitHub({ secret, ...spec });
    const answer = await app.rest<Delivered>('POST', path, { headers, body: body.toString() });
    if (answer.status !== status) throw new Error(`receiveHook: ${answer.status} instead of ${status}`);
    check.check('POST', path, answer);
    return answer.body;
  };
  await send(401, { secret: 'guessed' });
  await send(200, { event: 'ping' });
  await send(413, { message: 'x'.repeat(1_100_000) });
  return send(202, { after: sha(77), ref: 'refs/heads/main' });
}
