import type { Request, RequestHandler, Response } from 'express';
import { HookDecision } from '../entities/hook-delivery.ts';
import { DomainError, Invalid } from '../errors.ts';
import { writeText } from '../schema/write-text.ts';
import type { HookService } from '../services/hook.service.ts';
import { BASE_PATH } from './rest.ts';

export const HOOKS_PATH = `${BASE_PATH}/hooks/git`;

const ID = /^\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/i;

/**
 * Where Git providers tell of pushes. Open to everybody: whoever knows the secret of the environment is believed. The signature is
 * one of the bytes that came, so the body is read here and by nobody before.
 */
export function hooksDoor(hooks: HookService): RequestHandler {
  return async (request, response) => {
    if (request.method !== 'POST') refuseMethod(response);
    const [, id] = ID.exec(request.path) ?? [];
    if (id === undefined) throw new Invalid({ field: 'environmentId', message: 'must be a UUID' });
    const header = (name: string) => headerOf(request, name);
    const delivery = await hooks.receive(id.toLowerCase(), { header, body: bytesOf(request) });
    const { deliveryId, decision, reason, deploymentId } = delivery;
    const body = JSON.stringify({ id: delivery.id, deliveryId, decision, reason, deploymentId });
    response.statusCode = decision === HookDecision.DEPLOYED ? 202 : 200;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    writeText(response, body);
  };
}

function refuseMethod(response: Response): never {
  response.setHeader('Allow', 'POST');
  throw new DomainError('METHOD_NOT_ALLOWED', 'Here one may POST');
}

/** One that comes twice is none: which of the two was meant? */
function headerOf({ headers }: Request, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

const bytesOf = ({ body }: Request): Uint8Array => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));
