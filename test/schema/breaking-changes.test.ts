import { expect, test } from '@jest/globals';
import type { JsonSchema, OpenApiDocument, OperationObject } from '../../src/rest/openapi-types.ts';
import { breakingChanges } from '../support/breaking-changes.ts';

const text: JsonSchema = { type: 'string' };
const boat: JsonSchema = {
  type: 'object',
  properties: {
    id: { type: 'string', format: 'uuid' },
    name: { type: ['string', 'null'] },
    mast: { anyOf: [{ $ref: '#/components/schemas/Mast' }, { type: 'null' }] },
    sister: { $ref: '#/components/schemas/Boat' },
  },
  required: ['id', 'name', 'mast', 'sister'],
};
const wish: JsonSchema = {
  type: 'object',
  properties: { name: { type: ['string', 'null'], maxLength: 100 }, rig: { $ref: '#/components/schemas/Rig' } },
  required: ['rig'],
  additionalProperties: false,
};

const operation = (operationId: string, more: Partial<OperationObject>): OperationObject => ({
  operationId,
  tags: [],
  summary: '',
  description: '',
  security: [{ bearer: [] }],
  responses: {
    200: {
      description: '',
      headers: { ETag: { $ref: '#/components/headers/ETag' } },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Boat' } } },
    },
  },
  ...more,
});

const contract = (): OpenApiDocument =>
  structuredClone({
    openapi: '3.1.0',
    info: {} as OpenApiDocument['info'],
    servers: [],
    tags: [],
    paths: {
      '/boats': {
        get: operation('boats', {
          security: [],
          parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100, default: 50 } }],
        }),
        post: operation('createBoat', {
          requestBody: {
            required: false,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Wish' } } },
          },
        }),
      },
    },
    components: {
      schemas: {
        Boat: boat,
        Wish: wish,
        Mast: { type: 'object', properties: { height: { type: 'integer' } }, required: ['height'] },
        Rig: { type: 'string', enum: ['SLOOP', 'KETCH'] },
      },
      responses: {},
      headers: {},
      parameters: {},
      securitySchemes: {},
    },
  });

type Change = (parts: {
  document: OpenApiDocument;
  boat: Required<JsonSchema>;
  wish: Required<JsonSchema>;
  rig: Required<JsonSchema>;
  list: OperationObject;
  create: OperationObject;
}) => void;

function faultsAfter(change: Change): string[] {
  const document = contract();
  const { Boat, Wish, Rig } = document.components.schemas as Record<string, Required<JsonSchema>>;
  const { get, post } = document.paths['/boats'] as { get: OperationObject; post: OperationObject };
  change({ document, boat: Boat, wish: Wish, rig: Rig, list: get, create: post } as never);
  return breakingChanges(contract(), document);
}

const breaks: [string, Change][] = [
  ['an operation is gone', ({ document }) => delete document.paths['/boats']?.get],
  ['an operation has another id', ({ list }) => Object.assign(list, { operationId: 'fleet' })],
  ['an operation asks for a token', ({ list }) => Object.assign(list, { security: [{ bearer: [] }] })],
  ['a parameter is gone', ({ list }) => Object.assign(list, { parameters: [] })],
  [
    'a parameter is new and required',
    ({ list }) => list.parameters?.push({ name: 'x', in: 'query', required: true, schema: text }),
  ],
  [
    'a parameter has a tighter limit',
    ({ list }) => Object.assign(list.parameters?.[0] ?? {}, { schema: { type: 'integer', maximum: 10, default: 50 } }),
  ],
  [
    'a parameter has another default',
    ({ list }) => Object.assign(list.parameters?.[0] ?? {}, { schema: { type: 'integer', maximum: 100, default: 10 } }),
  ],
  ['a body is required', ({ create }) => Object.assign(create.requestBody ?? {}, { required: true })],
  ['an input is gone', ({ wish }) => delete wish.properties.name],
  ['an input is required', ({ wish }) => wish.required.push('name')],
  [
    'an input is new and required',
    ({ wish }) => Object.assign(wish, { properties: { ...wish.properties, x: text }, required: ['rig', 'x'] }),
  ],
  ['an input takes no null any more', ({ wish }) => Object.assign(wish.properties.name ?? {}, { type: 'string' })],
  ['an input takes less', ({ wish }) => Object.assign(wish.properties.name ?? {}, { maxLength: 10 })],
  ['an input follows a pattern', ({ wish }) => Object.assign(wish.properties.name ?? {}, { pattern: '^x' })],
  ['a choice is gone', ({ rig }) => rig.enum.pop()],
  ['a status is gone', ({ create }) => Object.assign(create, { responses: {} })],
  ['a header is gone', ({ create }) => Object.assign(create.responses[200] ?? {}, { headers: {} })],
  ['a field is gone', ({ boat }) => delete boat.properties.name],
  ['a field may be missing', ({ boat }) => boat.required.pop()],
  ['a field may be null', ({ boat }) => Object.assign(boat.properties.id ?? {}, { type: ['string', 'null'] })],
  ['a field has another type', ({ boat }) => Object.assign(boat.properties.name ?? {}, { type: ['integer', 'null'] })],
  ['a field is no id any more', ({ boat }) => delete boat.properties.id?.format],
  [
    'a nested field is gone',
    ({ document }) => Object.assign(document.components.schemas.Mast ?? {}, { properties: {} }),
  ],
];

test.each(breaks)('it breaks when %s', (_, change) => {
  expect(faultsAfter(change)).not.toEqual([]);
});

const additions: [string, Change][] = [
  ['nothing changes', () => undefined],
  [
    'an operation is new',
    ({ document }) => Object.assign(document.paths, { '/masts': { get: operation('masts', {}) } }),
  ],
  ['an operation asks for no token any more', ({ create }) => Object.assign(create, { security: [] })],
  ['a parameter is new', ({ list }) => list.parameters?.push({ name: 'x', in: 'query', schema: text })],
  [
    'a parameter has a wider limit',
    ({ list }) => Object.assign(list.parameters?.[0] ?? {}, { schema: { type: 'integer', maximum: 500, default: 50 } }),
  ],
  ['an input is new', ({ wish }) => Object.assign(wish.properties, { x: text })],
  ['an input takes more', ({ wish }) => delete wish.properties.name?.maxLength],
  ['an input may be left out', ({ wish }) => wish.required.pop()],
  ['a choice is new', ({ rig }) => rig.enum.push('YAWL')],
  ['a field is new', ({ boat }) => Object.assign(boat.properties, { x: text })],
  ['a field is never null any more', ({ boat }) => Object.assign(boat.properties.name ?? {}, { type: 'string' })],
  ['a refusal is new', ({ list }) => Object.assign(list.responses, { 409: { description: '', content: {} } })],
  ['it is told in other words', ({ list }) => Object.assign(list, { summary: 'Boats', description: 'All boats.' })],
];

test.each(additions)('it does not break when %s', (_, change) => {
  expect(faultsAfter(change)).toEqual([]);
});
