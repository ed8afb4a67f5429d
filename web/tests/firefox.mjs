// SPDX-License-Identifier: Apache-2.0

/** A person in a real Firefox: node firefox.mjs ADDRESS. Fails at any error of the page. */
import assert from 'node:assert/strict';
import { startFirefox, watch } from './browsers.mjs';
import { lease } from './person.mjs';

const address = process.argv[2];
const api = new URL('../v1/leases', address);
const headers = { 'Content-Type': 'application/json', 'OpenStack-API-Version': 'reservation 1.8' };

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

async function create(wanted) {
  const made = await fetch(api, { method: 'POST', headers, body: JSON.stringify(wanted) });
  assert.ok(made.ok, await made.clone().text());
  return (await made.json()).lease.id;
}

const hours = (number) => new Date(Date.now() + number * 3600000).toISOString().slice(0, 16);
const { reservations } = lease('', 0, 1);
const ids = [
  await create(lease('in-firefox', 30, 2)),
  await create({ name: 'movable', duration: 7200, earliest: hours(32), latest: hours(60), reservations }),
];
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
  await page.keyboard.press('Escape');
  await page.focus('.grid');
  const said = () => page.$eval('#cell', (cell) => cell.textContent);
  for (let tries = 0; !/lease movable of your project/.test(await said()); tries++) {
    assert.ok(tries < 60, await said());
    await page.keyboard.press(tries % 10 === 9 ? 'ArrowDown' : 'ArrowRight');
    if (tries % 10 === 9) await page.keyboard.press('t');
  }
  await page.waitForFunction(
    () => /movable .* It moves between .* and .*\.$/.test(document.querySelector('#cell').textContent));
  process.stdout.write('ok the window of a lease that may move\n');
  assert.deepEqual(await page.evaluate(() => globalThis.forbidden), []);
  assert.deepEqual(errors, []);
} finally {
  await browser.close();
  for (const id of ids) await fetch(`${api}/${id}`, { method: 'DELETE', headers });
  process.stdin.destroy();
}
