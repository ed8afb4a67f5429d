// SPDX-License-Identifier: Apache-2.0

/** What the steps of a person in a browser are made of. */
/** Small screens, in the language with the longest words: nothing is wider than the screen. */
import assert from 'node:assert/strict';
import { accessible, ask, lease, leasesOf } from './person.mjs';

const WIDTHS = [320, 360, 390];
const NAME = 'versuch-mit-einem-langen-namen-und-vielen-teilen-17';
/** The views in German, and what only each of them has. */
const VIEWS = { calendar: '.grid', utilisation: '.chart', leases: '.page .table' };
/** CSS pixels of a screen of 1280 by 720 that is enlarged to 200 %. */
const ENLARGED = { width: 640, height: 360 };

/** Fail if the page, a view or a drawer can be scrolled sideways. */
async function narrow(page, where) {
  const wide = await page.evaluate(() => [document.documentElement,
    ...document.querySelectorAll('main, .page, .drawer, .calendar, .toolbar, .top')]
    .filter((one) => one.scrollWidth > one.clientWidth || one.getBoundingClientRect().right > innerWidth)
    .map((one) => `${one.className || one.tagName} ${one.scrollWidth}`));
  assert.deepEqual(wide, [], where);
  await accessible(page, where);
}

/** Return the steps of a person with small screens. */
export const phones = (context, page, address, { remove, named } = leasesOf(context, address)) => ({
  async 'views on phones in German'() {
    await ask(context, address, 'POST', 'leases', lease(NAME, 30, 1));
    await page.goto(address);
    await page.getByLabel('Language').selectOption('de');
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 740 });
      for (const [view, own] of Object.entries(VIEWS)) {
        await page.goto(`${address}#/${view}`);
        await page.locator(own).waitFor();
        await narrow(page, `German ${view} ${width}`);
      }
    }
  },
  async 'drawers on phones in German'() {
    const { id } = await named(NAME);
    const { resources } = await ask(context, address, 'GET', 'resources?type=physical:host');
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 740 });
      await page.goto(`${address}#/calendar?lease=${id}`);
      await page.getByRole('heading', { name: NAME }).waitFor();
      await narrow(page, `German lease ${width}`);
      const actions = page.locator('.actions button[aria-expanded]');
      for (let number = 0; number < await actions.count(); number++) {
        await actions.nth(number).click();
        await narrow(page, `German action ${number} ${width}`);
      }
      await page.goto(`${address}#/calendar?resource=1/${resources[0].name}`);
      await page.getByRole('heading', { name: 'Nächste freie Zeiten' }).waitFor();
      await narrow(page, `German resource ${width}`);
      await page.getByRole('button', { name: 'Schließen' }).click();
      await page.getByRole('button', { name: 'Reservieren', exact: true }).click();
      await page.getByText(/^(Nicht verfügbar|Verfügbar)\.$/).waitFor();
      await narrow(page, `German form ${width}`);
      await page.getByRole('button', { name: 'Möglichst bald' }).click();
      await page.getByText(/Derzeit /).waitFor();
      await page.getByLabel('Anderen Projekten weichen').check();
      await page.getByLabel('Auf Platz warten, falls keiner da ist').check();
      await page.getByText(/^Sie beginnt früher, in den Lücken/).waitFor();
      await narrow(page, `German soon ${width}`);
      await page.getByRole('button', { name: 'Schließen' }).click();
    }
  },
  async 'the toolbar in German, however wide the screen is'() {
    for (const width of [1500, 1440, 1280, 1000, 900, 760, 725]) {
      await page.setViewportSize({ width, height: 740 });
      await page.goto(`${address}#/calendar?type=physical:host`);
      await page.locator('.grid').waitFor();
      await narrow(page, `German toolbar ${width}`);
      const [search, button] = await page.evaluate(() => ['.search', '.reserve']
        .map((one) => document.querySelector(one).getBoundingClientRect()));
      // The search and the button are in one line, and as much of its text can be read.
      if (width > 900) assert.ok(search.y === button.y && search.width >= 130, JSON.stringify([width, search, button]));
    }
  },
  async 'at 200 % at least six rows are seen'() {
    await page.setViewportSize(ENLARGED);
    await page.goto(`${address}#/calendar`);
    await page.locator('.grid').waitFor();
    await narrow(page, 'German enlarged');
    const rows = await page.locator('.grid').evaluate(
      (grid) => (Math.min(grid.getBoundingClientRect().bottom, innerHeight)
        - grid.getBoundingClientRect().top - 46) / 30);
    assert.ok(rows >= 6, `${rows} rows`);
    await remove(NAME);
  },
});
