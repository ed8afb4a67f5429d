// SPDX-License-Identifier: Apache-2.0

/** Pictures of the page for the documentation: node pictures.mjs ADDRESS FOLDER. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { book } from './clip.mjs';

const [service, folder] = process.argv.slice(2);
const HOUR = 3600000;
/** Width of the first column. */
const NAMES = 210;
const midnight = Math.floor(Date.now() / 86400000) * 86400000 + 86400000;
/**
 * Name, hours from the next midnight to the start, hours, hosts, whose. Without a start it
 * starts at once, and its hours are from that midnight too, whatever the time of day.
 */
const LEASES = [
  ['training', null, 30, [1, 2], 'mine'], ['nightly', null, 8, [3], 'other'],
  ['climate model', 9, 34, [3, 5, 6], 'mine'], ['course', 44, 10, [1, 3, 5, 6], 'other'],
  ['benchmarks', 58, 24, [3, 4], 'mine'], ['render', 66, 30, [1, 2, 5], 'other'],
  ['upgrade', 118, 12, [2, 5], 'other'], ['review', 124, 20, [1], 'mine'],
];

const iso = (at) => new Date(at).toISOString().slice(0, 16);

async function post(path, body, project, method = 'POST') {
  const answer = await fetch(`${service}/v1/${path}`, {
    method, body: JSON.stringify(body), headers: {
      'Content-Type': 'application/json', 'OpenStack-API-Version': 'reservation 1.5',
      ...(project === 'other' ? { 'X-Auth-Token': 'ann:other:member' } : {}),
    },
  });
  assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.text()}`);
}

for (const [name, from, hours, hosts, whose] of LEASES) {
  await post('leases', {
    name, start_date: from === null ? 'now' : iso(midnight + from * HOUR),
    end_date: iso(midnight + ((from ?? 0) + hours) * HOUR),
    reservations: [{
      resource_type: 'physical:host', min: hosts.length, max: hosts.length,
      // One comparison is never true, since "or" needs two.
      hypervisor_properties: JSON.stringify(['or', ['==', '$hypervisor_hostname', ''],
        ...hosts.map((host) => ['==', '$hypervisor_hostname', `compute-${host}`])]),
    }],
  }, whose);
}
await post('maintenances', {
  resource_type: 'physical:host', resource_name: 'compute-6', reason: 'New disks',
  start_date: iso(midnight + 80 * HOUR), end_date: iso(midnight + 96 * HOUR),
});

for (let host = 1; host <= 6; host++) {
  await post(`os-hosts/${host}`, { rack: host <= 4 ? 'A' : 'B' }, 'mine', 'PUT');
}

const browser = await chromium.launch({
  executablePath: process.env.CLIMATE_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'],
});
const page = await browser.newPage({
  viewport: { width: 1080, height: 500 }, timezoneId: 'UTC', locale: 'en-GB', reducedMotion: 'reduce',
});
page.setDefaultTimeout(10000);
const errors = [];
page.on('pageerror', (error) => errors.push(String(error)));
page.on('console', (message) => {
  // A period that does not fit is refused with 409.
  if (message.type() === 'error' && !/409/.test(message.text())) errors.push(message.text());
});

/** Drag over free time: rows and hours after the next midnight; call back before the end. */
async function drag(rows, from, to, before = async () => {}) {
  const box = await page.locator('.grid').boundingBox();
  const week = 168 * HOUR;
  const first = Date.now() - week / 14;
  const width = box.width - NAMES;
  const x = (hour) => box.x + NAMES + ((midnight + hour * HOUR - first) / week) * width;
  const y = (row) => box.y + 46 + row * 30 + 15;
  await page.mouse.move(x(from), y(rows[0]));
  await page.mouse.down();
  await page.mouse.move(x(to), y(rows[1]), { steps: 5 });
  await before();
  await page.mouse.up();
}

async function take(name, width, height, left = 0, top = 0) {
  await page.setViewportSize({ width, height });
  await page.evaluate(() => document.fonts.ready);
  // Two frames: the canvas is drawn again after its new size is known.
  await page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done));
  }));
  await page.screenshot({ path: join(folder, name), animations: 'disabled',
    clip: { x: left, y: top, width: width - left, height: height - top } });
  process.stdout.write(`${name}\n`);
}

try {
  await page.goto(`${service}/ui/`);
  await page.getByText(/^[0-9]+ resources$/).waitFor();
  await page.getByLabel('Theme').selectOption('light');
  await page.mouse.move(0, 0);
  await take('calendar.png', 1080, 500, 0, 146);
  await page.setViewportSize({ width: 1080, height: 660 });
  await drag([1, 2], 98, 116);
  await page.getByLabel('Name', { exact: true }).fill('training, second part');
  await page.getByText(/^(Available|Not available)\.$/).waitFor();
  await take('calendar-form.png', 1080, 660, 480, 50);
  await page.getByRole('button', { name: 'As soon as possible' }).click();
  await page.getByLabel('Give way to other projects').check();
  await page.getByText(/At present /).waitFor();
  await page.getByText(/^It begins earlier/).scrollIntoViewIfNeeded();
  await take('calendar-soon.png', 1080, 660, 480, 50);
  await page.keyboard.press('Escape');
  await book(page, drag, take);
  await page.setViewportSize({ width: 1440, height: 620 });
  await page.getByLabel('Group by').selectOption('rack');
  await page.getByText(/of 4 free/).waitFor();
  await page.locator('.notice.shown').waitFor({ state: 'detached' });
  await page.mouse.move(0, 0);
  await take('calendar-groups.png', 1440, 520, 0, 54);
  await page.getByLabel('Theme').selectOption('dark');
  await page.goto(`${service}/ui/#/utilisation`);
  await page.locator('.page .panel').first().waitFor();
  await take('calendar-utilisation.png', 1080, 590);
  assert.deepEqual(errors, []);
} finally {
  await browser.close();
}
