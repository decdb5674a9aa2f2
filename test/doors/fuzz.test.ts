import { Agent, type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CapturedLog } from '../support/captured-log.ts';
import { type Person, TestApp } from '../support/create-app.ts';
import { formFaults, INSIDES } from '../support/error-form.ts';
import { type HostileRequest, hostileRequests } from '../support/hostile-requests.ts';
import { testSchema } from '../support/schema.ts';

/** 2,000 with every change; the whole of F19 by `npm run faults:f19`. */
const COUNT = Number(process.env.FUZZ ?? 2000);
const AT_ONCE = 10;

const captured = new CapturedLog();
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const rejections: unknown[] = [];
const noteRejection = (reason: unknown) => void rejections.push(reason);
let app: TestApp;
let ann: Person;
beforeAll(async () => {
  process.on('unhandledRejection', noteRejection);
  app = await TestApp.start({}, captured.log);
  ann = await app.register();
});
afterAll(async () => {
  agent.destroy();
  await app.stop();
  process.off('unhandledRejection', noteRejection);
});

interface Answer {
  status: number;
  type: string;
  text: string;
}

/** A stream that stays open is left as soon as it has said so. */
function send({ method, path, headers, body }: HostileRequest): Promise<Answer> {
  const { hostname, port } = new URL(app.url);
  const own = { authorization: `Bearer ${ann.token}`, 'content-length': Buffer.byteLength(body ?? '') };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, hostname, port, method, path, headers: { ...own, ...headers } }, response => {
      read(response).then(resolve, reject);
    });
    sent.once('error', reject).end(body);
  });
}

function read(response: IncomingMessage): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  const type = headers['content-type'] ?? '';
  return new Promise((resolve, reject) => {
    let text = '';
    const finish = () => resolve({ status, type, text });
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (!text.startsWith('retry:')) return;
      finish();
      response.destroy();
    });
    response.once('end', finish).once('error', reject);
  });
}

function faultsOf({ door, method }: HostileRequest, { status, type, text }: Answer): string[] {
  if (status >= 500 && status !== 502) return [`status ${status}`];
  if (method === 'HEAD' || (method === 'OPTIONS' && status === 204)) return [];
  if (type.startsWith('text/event-stream')) {
    const data = /^data: (\{.*\})$/m.exec(text)?.[1];
    return data === undefined ? [] : formFaults(200, 'application/json', data, true);
  }
  if (type.startsWith('text/html')) return status === 200 ? [] : ['an error page'];
  if (door === 'rest' && status < 400) return type.startsWith('application/json') ? [] : [`type is ${type}`];
  const faults = formFaults(status, type, text, door !== 'rest');
  return status >= 400 && INSIDES.test(text.replace(/"instance":"[^"]*"/, ''))
    ? [...faults, 'shows our inside']
    : faults;
}

test(
  `F19: ${COUNT} malformed inputs over three doors: no answer of 500 and more, no crash, no body off the form`,
  async () => {
    const requests = fc.array(hostileRequests(await testSchema()), { minLength: AT_ONCE, maxLength: AT_ONCE });
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(requests, async some => {
        const faults = await Promise.all(
          some.map(async hostile => {
            const answer = await send(hostile);
            statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
            return faultsOf(hostile, answer).map(fault => `${fault}: ${answer.text.slice(0, 300)}`);
          }),
        );
        expect(faults.flat()).toEqual([]);
      }),
      {
        numRuns: Math.ceil(COUNT / AT_ONCE),
        endOnFailure: false,
        ...(process.env.FUZZ === undefined ? { seed: 19 } : {}),
      },
    );
    expect(rejections).toEqual([]);
    expect(captured.lines.filter(line => line.includes('Unexpected error'))).toEqual([]);
    expect(await app.rest('GET', '/auth/me', { token: ann.token })).toMatchObject({ status: 200 });
    const kinds = [...statuses.keys()].filter(status => status >= 400);
    expect(kinds).toEqual(expect.arrayContaining([400, 404, 405]));
  },
  COUNT * 100 + 60_000,
);
