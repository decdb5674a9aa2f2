import { createHash } from 'node:crypto';

const FIELDS = 'id at actor tokenId ip action resource outcome requestId';

const list = `($limit: Int) { audit(limit: $limit) { ${FIELDS} } }`;
const one = `($id: ID!) { auditEntry(id: $id) { ${FIELDS} } }`;

/** The operations of the bench, with the fields that REST answers with. */
export const queries = { list: `query List${list}`, one: `query One${one}` };

/** The same as a front end would register them; under other names, for what is registered is known by its text, too. */
const registered = { list: `query RegisteredList${list}`, one: `query RegisteredOne${one}` };

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const hashes = { list: sha256(registered.list), one: sha256(registered.one) };

/** As Apollo's tools write it, for PERSISTED_OPERATIONS. */
export const manifest = JSON.stringify({
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [
    { id: hashes.list, name: 'RegisteredList', type: 'query', body: registered.list },
    { id: hashes.one, name: 'RegisteredOne', type: 'query', body: registered.one },
  ],
});
