import { createHash } from 'node:crypto';

const FIELDS = 'id at actor tokenId ip action resource outcome requestId';

/** The operations of the bench, with the fields that REST answers with. */
export const queries = {
  list: `query List($limit: Int) { audit(limit: $limit) { ${FIELDS} } }`,
  one: `query One($id: ID!) { auditEntry(id: $id) { ${FIELDS} } }`,
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const hashes = { list: sha256(queries.list), one: sha256(queries.one) };

/** As Apollo's tools write it, for PERSISTED_OPERATIONS. */
export const manifest = JSON.stringify({
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [
    { id: hashes.list, name: 'List', type: 'query', body: queries.list },
    { id: hashes.one, name: 'One', type: 'query', body: queries.one },
  ],
});
