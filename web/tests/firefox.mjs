// SPDX-License-Identifier: Apache-2.0

/** A person in a real Firefox: node firefox.mjs ADDRESS. Fails at any error of the page. */
import assert from 'node:assert/strict';
import { startFirefox, watch } from './browsers.mjs';
import { lease } from './person.mjs';

const address = process.argv[2];
const api = new URL('../v1/leases', address);
const headers = { 'Content-Type': 'application/json', 'OpenStack-API-Version': 'reservation 1.5' };

/** Runs before the page: collects what its policy forbids, which Firefox does not report. */
function collect() {
  globalThis.forbidden = [];
  document.addEventListener('securitypolicyviolation', (event) => {
    globalThis.forbidden.push(`${event.violatedDirective} ${event.sourceFile}`);
  });
}

/** Runs in the page: whether bars of the caller's leases are drawn. */
function drawn() {
  const canvas = document.querySelector('.grid canvas');
  const colour = document.createElement('canvas').getContext('2d');
  colour.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent');
  colour.fillRect(0, 0, 1, 1);
  const [accent] = new Uint32Array(colour.getImageData(0, 0, 1, 1).data.buffer);
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return new Uint32Array(data.buffer).filter((one) => one === accent).length > 100;
}

const body = JSON.stringify(lease('in-firefox', 30, 2));
const made = await fetch(api, { method: 'POST', headers, body });
assert.ok(made.ok, await made.clone().text());
const { lease: { id } } = await made.json();
const browser = await startFirefox();
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(60000);
  const errors = watch(page);
  await page.setViewport({ width: 1440, height: 900 });
  await page.evaluateOnNewDocument(collect);
  await page.goto(address);
  await page.waitForFunction(drawn);
  process.stdout.write('ok bars\n');
  await page.focus('.grid');
  await page.keyboard.press('Home');
  await page.waitForFunction(
    () => document.querySelector('#cell').textContent.includes('lease in-firefox of your project'));
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('h2')?.textContent === 'in-firefox');
  process.stdout.write('ok open a lease by keyboard\n');
  assert.deepEqual(await page.evaluate(() => globalThis.forbidden), []);
  assert.deepEqual(errors, []);
} finally {
  await browser.close();
  await fetch(`${api}/${id}`, { method: 'DELETE', headers });
  process.stdin.destroy();
}
