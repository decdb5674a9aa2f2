import type { GraphQLField, GraphQLSchema } from 'graphql';
import { fieldOf } from '../src/rest/rest.ts';
import { type Route, routeEntries } from '../src/rest/routes.ts';
import type { Permission } from '../src/schema/authorize.ts';

const HEAD = `# All names

Every operation, by GraphQL and by REST (below \`/api/v1\`), and who may use it. Written by \`npm run emit\` from the code; do not edit it
by hand. Arguments and answers are in [schema.graphql](../../schema.graphql) and [openapi.json](../../openapi.json).

- *anybody*: needs no token.
- *signed-in*: any account, with the token of a session; API tokens are refused.
- a role, such as OWNER: an account with at least that role (VIEWER < MEMBER < OWNER). The word behind it is the least scope an API token
  needs for it (\`read\` < \`deploy\` < \`write\`).
- *bound*: an API token that is bound to a project or an environment may use it too, within its bounds. Other operations refuse such a token.

Arguments with a question mark may be left out. Those that the path names stand there; the others of GET and DELETE stand in the query
string, of POST, PUT and PATCH in the JSON body. \`ifVersion\` may be given as the header \`If-Match\` instead.
`;

const KINDS: Readonly<Record<string, string>> = { Query: 'query', Mutation: 'mutation', Subscription: 'subscription' };

/** The page docs/api/names.md. */
export function describeNames(schema: GraphQLSchema): string {
  const tags = [...new Set(routeEntries.map(([, { tag }]) => tag))];
  const chapters = tags.map(tag => {
    const rows = routeEntries.filter(([, route]) => route.tag === tag);
    const lines = rows.map(([name, route]) => row(name, route, fieldOf(schema, name)));
    return `## ${tag}\n\n| GraphQL | arguments | REST | answers | who |\n|---|---|---|---|---|\n${lines.join('\n')}\n`;
  });
  return [HEAD, ...chapters].join('\n');
}

function row(name: string, { method, path, status, switchedBy }: Route, field: GraphQLField<unknown, unknown>): string {
  const [type = '', verb = ''] = name.split('.');
  const isStream = type === 'Subscription';
  const args = field.args.map(({ name, type, defaultValue }) =>
    String(type).endsWith('!') && defaultValue === undefined ? `\`${name}\`` : `\`${name}?\``,
  );
  const cells = [
    `${KINDS[type]} \`${verb}\``,
    args.join(' '),
    `\`${method} ${path}${switchedBy ? `?${switchedBy}=true` : ''}\``,
    isStream ? 'stream' : `${status ?? 200}`,
    whoMay(field.extensions.permission as Permission),
  ];
  return `| ${cells.join(' | ')} |`;
}

function whoMay(permission: Permission): string {
  if (permission === 'open') return 'anybody';
  const { role, scope, sessionOnly, inProject } = permission;
  if (!sessionOnly) return `${role}, \`${scope}\`${inProject ? ', bound' : ''}`;
  return role === 'VIEWER' ? 'signed-in' : `signed-in ${role}`;
}
