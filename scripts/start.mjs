/** Node keeps the compiled form of dist/main.js between starts, which saves a good part of each. */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

const main = new URL('../dist/main.js', import.meta.url);
if (!existsSync(main)) {
  console.error('The service is not built: run npm run build.');
  process.exit(1);
}
enableCompileCache(fileURLToPath(new URL('../dist/.cache', import.meta.url)));
await import(main.href);
