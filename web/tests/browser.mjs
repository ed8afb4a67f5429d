// Licensed under the Apache License, Version 2.0 (the "License"); you may
// not use this file except in compliance with the License. You may obtain
// a copy of the License at
//
//      http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
// WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
// License for the specific language governing permissions and limitations
// under the License.

/** A person in a real Chromium: node browser.mjs ADDRESS. Fails at any error of the page. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = createRequire(import.meta.url).resolve('axe-core');
const address = process.argv[2];
const browser = await chromium.launch({
  executablePath: process.env.CLIMATE_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'],
});
// A zone in which most of the day is past: what is free is known from the present on.
function evening() {
  const east = ((20 - new Date().getUTCHours() + 36) % 24) - 12;
  return `Etc/GMT${east > 0 ? '-' : '+'}${Math.abs(east)}`;
}

const context = await browser.newContext({
  viewport: { width: 1440, height: 900 }, timezoneId: evening(), bypassCSP: false,
});
const page = await context.newPage();
page.setDefaultTimeout(60000);
const errors = [];
page.on('pageerror', (error) => errors.push(String(error)));
page.on('console', (message) => {
  if (/Content Security Policy|TrustedHTML/.test(message.text())) errors.push(message.text());
});

async function accessible(where) {
  // Through the debugger, because the policy of the page forbids it scripts of others.
  const { readFileSync } = await import('node:fs');
  await page.evaluate(readFileSync(axe, 'utf8'));
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map((one) => [where, one.id, one.nodes[0].html]), []);
}

async function drag(row, from, to) {
  const box = await page.locator('.grid').boundingBox();
  const y = box.y + 46 + row * 30 + 15;
  await page.mouse.move(box.x + from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + to, y, { steps: 5 });
  await page.mouse.up();
}

const steps = {
  async 'the calendar is there'() {
    await page.goto(address);
    await page.getByText(/^[0-9]+ resources$/).waitFor();
  },
  async 'book by drag'() {
    await drag(0, 700, 800);
    await page.getByLabel('Name', { exact: true }).fill('by-drag');
    await page.getByText('Free.').waitFor();
    await accessible('form');
    await page.locator('form button[type=submit]').click();
    await page.getByRole('heading', { name: 'by-drag' }).waitFor();
    await page.getByText('until it starts').waitFor();
  },
  async 'extend, shorten and delete'() {
    const lease = async () => (await (await context.request.get(
      new URL('../v1/leases', address).href)).json()).leases.find((one) => one.name === 'by-drag');
    const { end_date: first } = await lease();
    await page.getByRole('button', { name: 'Extend' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^by-drag ends/).waitFor();
    const { end_date: later } = await lease();
    assert.ok(Date.parse(`${later}`) > Date.parse(`${first}`), `${first} ${later}`);
    await page.getByRole('button', { name: 'Shorten' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^by-drag ends/).waitFor();
    await accessible('lease');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the lease' }).click();
    await page.getByText('by-drag is deleted.').waitFor();
  },
  async 'book by keyboard'() {
    await page.locator('.grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByText('Free.').waitFor();
    await page.keyboard.type('by-keys');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'by-keys' }).waitFor();
    await page.keyboard.press('Escape');
  },
  async 'other views, dark, German'() {
    for (const theme of ['light', 'dark']) {
      await page.getByLabel(/^(Theme|Aussehen)$/).selectOption(theme);
      for (const view of ['calendar', 'utilisation', 'leases']) {
        await page.goto(`${address}#/${view}`);
        await page.locator(view === 'calendar' ? '.grid' : '.page .panel').first().waitFor();
        await accessible(`${view} ${theme}`);
      }
    }
    await page.getByLabel('Language').selectOption('de');
    await page.getByRole('link', { name: 'Kalender' }).waitFor();
  },
};
try {
  for (const [name, step] of Object.entries(steps)) {
    await step();
    process.stdout.write(`ok ${name}\n`);
  }
  assert.deepEqual(errors, []);
} finally {
  await browser.close();
}
