// SPDX-License-Identifier: Apache-2.0

/** What the address of the page says: back, forward, reload and links show it again. */
import assert from 'node:assert/strict';
import { ask, calendar, counted, eventually, lease, leasesOf } from './person.mjs';

const DAY = 86400000;

/** Return the steps of a person at an address, in their order. */
export const addresses = (context, page, address, { remove } = leasesOf(context, address)) => ({
  async 'the address has filters, zoom and time'() {
    await page.goto(address);
    await calendar(page);
    assert.equal(new URL(page.url()).hash, '');
    await page.getByRole('searchbox').fill('compute-2');
    await counted(page, '1 resource');
    await page.getByRole('button', { name: 'Month', exact: true }).click();
    await page.getByRole('button', { name: 'Later' }).click();
    await says(page, /^#\/calendar\?type=physical:host&search=compute-2&from=\d{4}-\d\d-\d\dT\d\d:\d\dZ&hours=744$/);
    const period = await page.locator('.period').textContent();
    await page.reload();
    await counted(page, '1 resource');
    assert.equal(await page.locator('.period').textContent(), period);
    assert.equal(await page.getByRole('searchbox').inputValue(), 'compute-2');
    // Someone else, who looked at something else, sees the same.
    const colleague = await context.newPage();
    await colleague.goto(page.url());
    await counted(colleague, '1 resource');
    assert.equal(await colleague.locator('.period').textContent(), period);
    await colleague.close();
    await page.bringToFront();
  },
  async 'go to a date by keyboard, and to today'() {
    await page.getByRole('button', { name: 'Skip to the content' }).focus();
    await page.keyboard.press('Enter');
    assert.ok(await page.locator('.grid').evaluate((one) => one === document.activeElement));
    await page.keyboard.press('g');
    const date = page.getByLabel('Go to date');
    assert.ok(await date.evaluate((one) => one === document.activeElement));
    await date.fill('2027-01-04');
    await page.keyboard.press('Enter');
    await page.getByText('– 4 Feb 2027').waitFor();
    assert.ok(await page.locator('.grid').evaluate((one) => one === document.activeElement));
    await page.keyboard.press('t');
    await eventually(async () => await date.inputValue() !== '2027-01-04');
    await says(page, /^#\/calendar\?type=physical:host&search=compute-2&hours=744$/);
  },
  async 'what is free now does not depend on the zoom'() {
    const later = (hours) => new Date(Date.now() + hours * 3600000).toISOString().slice(0, 16);
    await ask(context, address, 'POST', 'leases', {
      ...lease('soon', 1, 1), start_date: later(2), end_date: later(3),
    });
    const coarse = page.waitForResponse(/availability.*step=(21600|43200|86400)/);
    await page.getByRole('button', { name: 'Quarter', exact: true }).click();
    await coarse;
    const now = page.locator('.strip-legend');
    const words = await now.innerText();
    await page.getByRole('button', { name: '6 h', exact: true }).click();
    await page.waitForResponse(/availability.*step=900/);
    assert.match(words, /[1-9]\d* of \d+ free/);
    assert.equal(await now.innerText(), words);
    await page.getByRole('button', { name: 'Month', exact: true }).click();
    await remove('soon');
  },
  async 'back and forward go through views and drawers'() {
    await ask(context, address, 'POST', 'leases', lease('linked', 30, 1));
    await page.getByRole('link', { name: 'Leases' }).click();
    await page.getByRole('button', { name: 'linked' }).click();
    const heading = page.getByRole('heading', { name: 'linked' });
    await heading.waitFor();
    await page.goBack();
    await heading.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'linked' }).waitFor();
    await page.goBack();
    await counted(page, '1 resource');
    await page.goForward();
    await page.goForward();
    await heading.waitFor();
    await page.reload();
    await heading.waitFor();
    assert.match(new URL(page.url()).hash, /^#\/leases\?lease=[0-9a-f-]{36}$/);
  },
  async 'the links of mails open a lease over the calendar'() {
    const id = new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('lease');
    for (const link of [`#lease/${id}`, `#/lease/${id}`]) {
      const other = await context.newPage();
      await other.goto(`${address}${link}`);
      await other.getByRole('heading', { name: 'linked' }).waitFor();
      await other.locator('.grid').waitFor();
      await other.reload();
      await other.getByRole('heading', { name: 'linked' }).waitFor();
      await other.getByRole('button', { name: 'Close' }).click();
      await says(other, /^#\/calendar\?type=physical:host$/);
      await other.close();
    }
    await page.bringToFront();
  },
  async 'the link of a mail goes to the time and the resources of its lease'() {
    const { lease: made } = await ask(context, address, 'POST', 'leases', {
      ...lease('far', 0, 1), start_date: '2031-05-06T10:00', end_date: '2031-05-07T10:00',
      reservations: [{ resource_type: 'network', network_name: 'far-lab' }],
    });
    const other = await context.newPage();
    await other.goto(`${address}#lease/${made.id}`);
    await other.getByRole('heading', { name: 'far', exact: true }).waitFor();
    await other.getByText(/[56] May 2031 –/).waitFor();
    await says(other, new RegExp(`^#/calendar\\?type=network&from=2031-05-0\\dT.*&lease=${made.id}$`));
    assert.equal(await other.locator('.filters').getByLabel('Resource type').inputValue(), 'network');
    // One that is in view already stays where it is.
    const id = new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('lease');
    await other.goto(`${address}#/calendar?type=physical:host`);
    await counted(other, '2 resources');
    const period = await other.locator('.period').textContent();
    await other.goto(`${address}#/lease/${id}`);
    await other.getByRole('heading', { name: 'linked' }).waitFor();
    assert.equal(await other.locator('.period').textContent(), period);
    await other.close();
    await page.bringToFront();
    await remove('far');
  },
  async 'the empty address is the calendar of today'() {
    await page.goto(`${address}#/leases`);
    await page.getByRole('button', { name: 'linked' }).waitFor();
    await page.goto(`${address}#/calendar?from=2031-02-03T12:00Z`);
    await page.getByText(/[34] Feb 2031 –/).waitFor();
    await page.goto(`${address}#`);
    const today = new Date(Date.now() - DAY / 2);
    await eventually(async () => Math.abs(
      Date.parse((await page.locator('.period').textContent()).split('–')[0]) - today) < 2 * DAY);
    await page.goBack();
    await page.getByText(/[34] Feb 2031 –/).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'linked' }).waitFor();
  },
  async 'back closes a form, and reload keeps its period'() {
    await page.goto(`${address}#/calendar`);
    await calendar(page);
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    const name = page.getByLabel('Name', { exact: true });
    await name.waitFor();
    await page.reload();
    await name.waitFor();
    await page.goBack();
    await name.waitFor({ state: 'detached' });
    await remove('linked');
  },
});

/** Wait until the address says something, which it does a moment after a movement. */
const says = (page, what) => eventually(async () => what.test(new URL(page.url()).hash));
