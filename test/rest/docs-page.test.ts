import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { browserPath, openBrowser } from '../support/browser.ts';
import { type Person, TestApp } from '../support/create-app.ts';

let app: TestApp;
let ann: Person;
beforeAll(async () => {
  app = await TestApp.start();
  ann = await app.register('ann@example.org');
});
afterAll(() => app.stop());

describe('the pages and their files', () => {
  test.each([
    ['', 'text/html'],
    ['/page.js', 'text/javascript'],
    ['/page.css', 'text/css'],
    ['/favicon.svg', 'image/svg+xml'],
    ['/swagger-ui.css', 'text/css'],
    ['/swagger-ui-bundle.js', 'text/javascript'],
    ['/openapi.json', 'application/json'],
  ])('/api/docs%s is %s', async (path, type) => {
    const response = await fetch(`${app.url}/api/docs${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain(type);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('nothing of the package but what the page needs', async () => {
    const response = await fetch(`${app.url}/api/docs/package.json`);
    expect(response.status).toBe(404);
  });

  test('they are not there where API_DOCS is off', async () => {
    const closed = await TestApp.start({ API_DOCS: 'off' });
    const response = await fetch(`${closed.url}/api/docs`);
    expect(await response.json()).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    await closed.stop();
  });
});

const inBrowser = browserPath === undefined ? describe.skip : describe;
const title = browserPath === undefined ? 'in a browser (skipped: no Chromium; CHROMIUM names one)' : 'in a browser';

inBrowser(title, () => {
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let asked: Set<string>;
  beforeAll(async () => {
    browser = await openBrowser();
  }, 60_000);
  afterAll(() => browser.close());

  const open = async (path: string) => {
    page = await browser.newPage();
    complaints = [];
    asked = new Set();
    page.on('request', request => asked.add(new URL(request.url()).origin));
    page.on('console', message => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', error => complaints.push(error.message));
    await page.goto(app.url + path);
  };

  test('one authorises, tries an operation and sees the answer, and nobody else is asked for anything', async () => {
    await open('/api/docs');
    await page.click('button.authorize');
    await page.fill('#auth-bearer-value', ann.token);
    await page.click('.auth-btn-wrapper button[type=submit] >> nth=0');
    await page.click('.btn-done >> nth=0');
    await page.click('#operations-Account-me .opblock-summary');
    await page.click('#operations-Account-me .execute');
    const answer = page.locator('#operations-Account-me .live-responses-table');
    await answer.locator('.response-col_description .microlight').first().waitFor();
    expect(await answer.locator('tbody .response-col_status').textContent()).toContain('200');
    expect(await answer.locator('tbody .response-col_description').textContent()).toContain('ann@example.org');
    expect(await page.title()).toBe('Slipway API');
    expect(complaints).toEqual([]);
    expect([...asked].filter(origin => origin !== 'null')).toEqual([app.url]);
    await page.close();
  }, 60_000);

  test('the page of GraphQL helps where the Sandbox cannot be reached', async () => {
    page = await browser.newPage();
    await page.route('https://**', route => route.abort());
    await page.goto(`${app.url}/graphql`);
    await page.locator('.failed').waitFor({ state: 'visible' });
    expect(await page.textContent('main')).toContain('curl');
    await page.close();
  }, 60_000);

  test('the page of GraphQL makes room for the Sandbox where it can', async () => {
    page = await browser.newPage();
    const script = `window.EmbeddedSandbox = class { constructor({ target, initialEndpoint }) {
      const frame = document.createElement('iframe');
      frame.src = 'https://sandbox.embed.apollographql.com/?endpoint=' + initialEndpoint;
      document.querySelector(target).append(frame);
    } };`;
    const headers = { 'content-type': 'text/javascript' };
    await page.route('https://embeddable-sandbox.cdn.apollographql.com/**', route =>
      route.fulfill({ body: script, headers }),
    );
    await page.route('https://sandbox.embed.apollographql.com/**', route => route.fulfill({ body: 'the Sandbox' }));
    await page.goto(`${app.url}/graphql`);
    await page.frameLocator('#sandbox iframe').getByText('the Sandbox').waitFor();
    expect(await page.locator('main').isVisible()).toBe(false);
    await page.close();
  }, 60_000);
});
