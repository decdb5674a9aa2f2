/** What a shop of several services is made of; each of them says which one it is. */
export interface Shop {
  text: string;
  /** The web service ends as soon as it starts. */
  isBroken?: boolean;
  /** The job that comes before the web service fails. */
  isJobBroken?: boolean;
  /** The second service ends as soon as it starts. */
  isApiBroken?: boolean;
  /** Given to the service with data: another one is another container. */
  storeSetting?: string;
  /** More for the file. */
  more?: string;
}

const NODE = 'FROM node:24-bookworm-slim\nWORKDIR /app\nCOPY . .\n';
const HEALTH = "fetch('http://127.0.0.1:4000/').then(({ok}) => process.exit(ok ? 0 : 1), () => process.exit(1))";

/** Keeps a number in its volume: POST makes it one more, GET tells it. */
const STORE = [
  "const fs = require('fs'), file = '/data/count'",
  'const read = () => (fs.existsSync(file) ? Number(fs.readFileSync(file)) : 0)',
  'const more = () => fs.writeFileSync(file, String(read() + 1))',
  "require('http').createServer((q, s) => { if (q.method === 'POST') more(); s.end(String(read())) }).listen(4000)",
].join('; ');

const web = (text: string): string => `
const say = async url => (await fetch(url)).text();
require('http').createServer(async (q, s) => {
  const { GREETING, SECRET = 'none' } = process.env;
  if (q.url === '/secret') return s.end(SECRET);
  s.end(['${text}', GREETING, await say('http://api:3000/'), await say('http://store:4000/')].join(' '));
}).listen(8080)`;

const api = (text: string): string => `
const { API_KEY = 'keyless' } = process.env;
require('http').createServer((q, s) => s.end('api-${text}-' + API_KEY)).listen(3000)`;

export function composeShop({ text, isBroken, isJobBroken, isApiBroken, storeSetting = 'x', more = '' }: Shop) {
  const count = "fetch('http://store:4000/', {method: 'POST'}).then(() => console.log('counted'))";
  const job = isJobBroken ? "console.log('cannot migrate'); process.exit(7)" : count;
  return {
    'compose.yaml': `
services:
  web:
    build: ./web
    ports: ["80:8080"]
    environment:
      GREETING: \${GREETING:-hello}
    depends_on:
      store: {condition: service_healthy}
      count: {condition: service_completed_successfully}
      api: {}
  api:
    build: {context: ./api, target: run}
    environment: [API_KEY]
  count:
    image: node:24-bookworm-slim
    command: ["node", "-e", ${JSON.stringify(job)}]
    depends_on: {store: {condition: service_healthy}}
  store:
    image: node:24-bookworm-slim
    command: ["node", "-e", ${JSON.stringify(STORE)}]
    environment: {SETTING: ${storeSetting}}
    volumes: [data:/data]
    stop_grace_period: 1s
    healthcheck: {test: ["CMD", "node", "-e", ${JSON.stringify(HEALTH)}], interval: 1s, retries: 20}
volumes: {data: }
${more}`,
    'web/Dockerfile': `${NODE}CMD ["node", "server.js"]`,
    'web/server.js': isBroken ? "console.log('no web'); process.exit(3)" : web(text),
    'api/Dockerfile': `${NODE.replace('slim', 'slim AS run')}CMD ["node", "server.js"]\nFROM run\nRUN false\n`,
    'api/server.js': isApiBroken ? "console.log('no api'); process.exit(4)" : api(text),
  };
}
