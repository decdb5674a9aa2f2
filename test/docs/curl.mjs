/** Stands in for curl where there is none: the few options that our pages use. */
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    include: { type: 'boolean', short: 'i' },
    'no-buffer': { type: 'boolean', short: 'N' },
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true, default: [] },
    data: { type: 'string', short: 'd' },
  },
});

const headers = Object.fromEntries(values.header.map(line => line.split(/:\s*/, 2)));
const method = values.request ?? (values.data === undefined ? 'GET' : 'POST');
const response = await fetch(positionals[0], { method, headers, body: values.data });
if (values.include) {
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  process.stdout.write(`${[`HTTP/1.1 ${response.status} ${response.statusText}`, ...lines].join('\r\n')}\r\n\r\n`);
}
for await (const chunk of response.body ?? []) process.stdout.write(chunk);
