import type { EnvironmentAnswer, EnvironmentBench } from './environments.ts';
import type { Delivery } from './push-payloads.ts';

export interface HookAnswer {
  status: number;
  body: {
    id: string;
    deliveryId: string;
    decision: string;
    reason: string;
    deploymentId: string | null;
    code?: string;
  };
}

export interface Hooked {
  id: string;
  projectId: string;
  secret: string;
}

export interface DeliveryRow {
  id: string;
  deliveryId: string;
  event: string;
  branch: string | null;
  commitSha: string | null;
  commitMessage: string | null;
  commitAuthor: string | null;
  decision: string;
  reason: string;
  deploymentId: string | null;
  redeliveryOf: string | null;
}

/** Sends what a provider would. */
export async function deliver({ app }: EnvironmentBench, id: string, { headers, body }: Delivery): Promise<HookAnswer> {
  const response = await fetch(`${app.url}/api/v1/hooks/git/${id}`, {
    method: 'POST',
    headers,
    body: new Uint8Array(body),
  });
  return { status: response.status, body: (await response.json()) as HookAnswer['body'] };
}

/** An environment on a server, whose webhook is set up by hand. */
export async function hooked(bench: EnvironmentBench, wish: object = {}, settings: object = {}): Promise<Hooked> {
  const projectId = await bench.project();
  const serverId = await bench.server();
  const environment: EnvironmentAnswer = await bench.environment({ projectId, serverId, ...wish });
  const body = { enabled: true, autoDeployBy: 'BY_HAND', ...settings };
  const path = `/environments/${environment.id}/auto-deploy`;
  const set = await bench.app.rest<{ hookSecret: string }>('PATCH', path, { token: bench.ann.token, body });
  if (set.status !== 200) throw new Error(JSON.stringify(set.body));
  return { id: environment.id, projectId, secret: set.body.hookSecret };
}

export async function ledgerOf({ app, ann }: EnvironmentBench, id: string): Promise<DeliveryRow[]> {
  return (await app.rest<DeliveryRow[]>('GET', `/environments/${id}/hook-deliveries`, { token: ann.token })).body;
}
