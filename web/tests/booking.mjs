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

/** Steps without authentication: book, change and delete leases, in every view. */
import assert from 'node:assert/strict';
import { accessible, ask, available, calendar, drag, eventually, holdBack, lease, look, please } from './person.mjs';

const VIEWS = ['calendar', 'utilisation', 'leases'];
const THEMES = ['light', 'dark'];

/** Return the steps of a person at an address, in their order. */
export const booking = (context, page, address) => ({
  async 'the calendar is there'() {
    for (const noun of ['leases', 'maintenances']) {
      const { [noun]: left } = await ask(context, address, 'GET', noun);
      for (const { id } of left) await ask(context, address, 'DELETE', `${noun}/${id}`);
    }
    await eventually(async () => (await ask(context, address, 'GET', 'leases')).leases.length === 0);
    // What the toolbar learns later may not move the rows under the pointer.
    const answer = await holdBack(page, /v1.(me|resource-types|resources.properties)/);
    await page.goto(address);
    await calendar(page);
    const before = await page.locator('.grid').boundingBox();
    await answer();
    await page.getByLabel('Group by').waitFor();
    assert.deepEqual(await page.locator('.grid').boundingBox(), before);
  },
  async 'book by drag'() {
    await drag(page, 0, 700, 800);
    await page.getByLabel('Name', { exact: true }).fill('by-drag');
    await available(page);
    await accessible(page, 'form');
    await page.locator('form button[type=submit]').click();
    await page.getByRole('heading', { name: 'by-drag' }).waitFor();
    await page.getByText('until it starts').waitFor();
  },
  async 'extend, shorten and delete'() {
    const end = async () => {
      const { leases } = await ask(context, address, 'GET', 'leases');
      return leases.find((one) => one.name === 'by-drag').end_date;
    };
    const first = await end();
    await page.getByRole('button', { name: 'Extend' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^by-drag now ends/).waitFor();
    const later = await end();
    assert.ok(Date.parse(later) > Date.parse(first), `${first} ${later}`);
    await page.getByRole('button', { name: 'Shorten' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^by-drag now ends/).waitFor();
    await accessible(page, 'lease');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete lease' }).click();
    await page.getByText('by-drag was deleted.').waitFor();
  },
  async 'book by keyboard'() {
    await page.locator('.grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await available(page);
    await page.keyboard.type('by-keys');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'by-keys' }).waitFor();
    const { leases } = await ask(context, address, 'GET', 'leases');
    await ask(context, address, 'DELETE', `leases/${leases[0].id}`);
    await page.keyboard.press('Escape');
  },
  async 'take an offer'() {
    const { lease: blocker } = await ask(context, address, 'POST', 'leases', lease('blocker', 4, 1));
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('by-offer');
    await page.getByLabel('How many').fill('2');
    await page.getByText('Not available.').waitFor();
    await page.locator('.offers button').first().waitFor();
    await accessible(page, 'offers');
    assert.ok(await page.locator('form button[type=submit]').isDisabled());
    await page.locator('.offers button').first().click();
    await page.getByRole('heading', { name: 'by-offer' }).waitFor();
    const { leases } = await ask(context, address, 'GET', 'leases');
    const made = leases.find((one) => one.name === 'by-offer');
    assert.ok(Date.parse(made.start_date) >= Date.parse(blocker.end_date), made.start_date);
    for (const { id } of [made, blocker]) await ask(context, address, 'DELETE', `leases/${id}`);
    await page.keyboard.press('Escape');
  },
  async 'two tabs'() {
    await ask(context, address, 'POST', 'leases', lease('in-two-tabs', 8, 2));
    const other = await context.newPage();
    await other.goto(address);
    await calendar(other);
    await other.locator('.grid').focus();
    await other.keyboard.press('Home');
    await other.locator('#cell', { hasText: 'your lease in-two-tabs' }).waitFor({ state: 'attached' });
    const before = await other.locator('#cell').textContent();
    await other.keyboard.press('Enter');
    await other.getByRole('heading', { name: 'in-two-tabs' }).waitFor();
    await page.goto(`${address}#/leases`);
    await page.getByRole('button', { name: 'in-two-tabs' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete lease' }).click();
    await page.getByText('in-two-tabs was deleted.').waitFor();
    await look(other);
    await other.getByText(/^That did not work: .* not found/).waitFor();
    await other.keyboard.press('Escape');
    // What is left of its bar ended when it was deleted.
    await eventually(async () => {
      await other.keyboard.press('Home');
      return await other.locator('#cell').textContent() !== before;
    });
    await other.keyboard.press('ArrowRight');
    await other.locator('#cell', { hasText: /: free from/ }).waitFor({ state: 'attached' });
    await other.close();
  },
  async 'the service goes away and comes back'() {
    await please('stop the service');
    await look(page);
    await page.getByRole('alert').getByText('Climate is not responding').waitFor();
    await accessible(page, 'away');
    await please('start the service');
    await look(page);
    await page.getByText('Back online.').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  },
  async 'every view, light and dark'() {
    await everyView(page, address, 'wide');
  },
  async 'German'() {
    await page.getByLabel('Language').selectOption('de');
    await page.getByRole('link', { name: 'Kalender' }).waitFor();
  },
});

/** Visit each view in each theme, and fail if it breaks a rule of accessibility. */
async function everyView(page, address, how) {
  for (const theme of THEMES) {
    await page.getByLabel('Theme').selectOption(theme);
    for (const view of VIEWS) {
      await page.goto(`${address}#/${view}`);
      await page.locator(view === 'calendar' ? '.grid' : '.page .panel').first().waitFor();
      await accessible(page, `${view} ${theme} ${how}`);
    }
  }
}

/** Return the steps of a person with a phone. */
export const phone = (context, page, address) => ({
  async 'every view on a phone'() {
    await page.goto(address);
    await calendar(page);
    await everyView(page, address, 'narrow');
  },
  async 'book by a tap'() {
    await page.goto(`${address}#/calendar`);
    const box = await page.locator('.grid').boundingBox();
    await page.touchscreen.tap(box.x + box.width - 40, box.y + 46 + 15);
    await available(page);
    await accessible(page, 'form narrow dark');
    await page.getByRole('button', { name: 'Close' }).click();
  },
  async 'nothing is wider than the screen'() {
    const [wide, seen] = await page.evaluate(
      () => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(wide <= seen, `${wide} ${seen}`);
  },
});
