// SPDX-License-Identifier: Apache-2.0

/** What people do with groups, their own rows, maintenances and the resources of a lease. */
import assert from 'node:assert/strict';
import {
  accessible, ago, ask, available, calendar, counted, drag, eventually, holdBack, lease, look,
} from './person.mjs';

const TOMORROW = (hours) => new Date(Date.now() + (24 + hours) * 3600000).toISOString().slice(0, 16);

/** Return the steps of an operator at an address, in their order. */
export const features = (context, page, address) => ({
  async 'group, fold and show one group'() {
    const { resources } = await ask(context, address, 'GET', 'resources?type=physical:host');
    for (const [number, { id }] of resources.entries()) {
      await ask(context, address, 'PUT', `os-hosts/${id}`, { rack: number ? 'r2' : 'r1' });
    }
    await page.goto(address);
    await calendar(page);
    const answer = await holdBack(page, '**/v1/calendar?*');
    await page.getByLabel('Group by').selectOption('rack');
    await spoken(page, 'Home', 'Loading…');
    await answer();
    await said(page, 'Group r1, 1 resource. Press Enter to collapse it.');
    await page.getByText(/of 1 free/).first().waitFor();
    await spoken(page, 'Enter', 'Group r1, 1 resource, collapsed. Press Enter to expand it.');
    await spoken(page, 'ArrowDown', /^Group r2, /);
    await spoken(page, 'ArrowDown', new RegExp(`^${resources[1].name}: `));
    await page.getByLabel('Show group').selectOption({ label: 'r1' });
    await spoken(page, 'End', 'Group r1, 1 resource, collapsed. Press Enter to expand it.');
    await accessible(page, 'groups');
    await page.getByLabel('Group by').selectOption('');
  },
  async 'a clock that is wrong by years, and figures that are asked in time'() {
    const other = await context.newPage();
    const YEARS = 2 * 365 * 86400000;
    await other.addInitScript((behind) => {
      const { now } = Date;
      Date.now = () => now() - behind;
    }, YEARS);
    await other.goto(`${address}#/utilisation`);
    await other.locator('.heat td').first().waitFor();
    // Types have the names here that they have elsewhere.
    assert.ok((await other.getByLabel('Resource type').locator('option').allTextContents()).includes('Hosts'));
    await other.goto(`${address}#/calendar`);
    await other.getByText(new RegExp(`– .* ${new Date(Date.now() + 6.5 * 86400000).getUTCFullYear()}$`)).waitFor();
    await calendar(other);
    // Shortly before the next minute the service may answer in that one.
    const late = Math.floor(Date.now() / 60000) * 60000 + 52000;
    await other.evaluate((at) => { Date.now = () => at; }, late - YEARS);
    const asked = other.waitForRequest(/availability.*step=60&/);
    await look(other);
    assert.match(new URL((await asked).url()).searchParams.get('start'), /:45Z$/);
    await other.close();
    await page.bringToFront();
  },
  async 'only my rows'() {
    await page.getByLabel('My project only').check();
    await page.getByText('Your project has nothing reserved here.').waitFor();
    // Not from now on: what has begun leaves a bar when it is deleted.
    await ask(context, address, 'POST', 'leases', {
      ...lease('my-row', 3, 1), start_date: TOMORROW(4), end_date: TOMORROW(7),
    });
    await look(page);
    await counted(page, '1 resource');
    await page.getByLabel('My project only').uncheck();
    await counted(page, '2 resources');
  },
  async 'free time of a resource'() {
    const open = async () => {
      const box = await page.locator('.grid').boundingBox();
      await page.mouse.click(box.x + 40, box.y + 46 + 15);
      await page.getByRole('heading', { name: 'Next free times' }).waitFor();
    };
    const take = async () => {
      await page.getByRole('button', { name: /^Now/ }).click();
      await available(page);
      await page.keyboard.press('Escape');
    };
    // What is free now can be had now, however long one looks at it or at the form.
    await ago(page, 120, async () => {
      await open();
      await take();
      await open();
    });
    await page.getByText(/^Booked for [0-9]+% of the next 7 days/).waitFor();
    await accessible(page, 'resource');
    await take();
  },
  async 'replace a resource of a lease'() {
    const { lease: made } = await ask(context, address, 'POST', 'leases', {
      name: 'moves', start_date: TOMORROW(0), end_date: TOMORROW(2),
      reservations: [{ resource_type: 'physical:host', min: 1, max: 1 }],
    });
    const place = async () => {
      const query = `resource_type=physical:host&lease_id=${made.id}`;
      return (await ask(context, address, 'GET', `calendar?${query}`)).calendar.resources.name[0];
    };
    const before = await place();
    await page.goto(`${address}#/lease/${made.id}`);
    await page.getByText(before, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Reallocate' }).click();
    await accessible(page, 'reallocation');
    await page.getByRole('button', { name: 'Replace', exact: true }).click();
    await page.getByText(`${before} was replaced.`).waitFor();
    assert.notEqual(await place(), before);
    await page.getByText(await place(), { exact: true }).waitFor();
  },
  async 'a calendar link'() {
    await page.getByRole('button', { name: 'Create calendar link' }).last().click();
    const link = await page.getByRole('textbox', { name: 'Subscribe to this address' }).inputValue();
    const answer = await context.request.get(link);
    assert.match(await answer.text(), /SUMMARY:.*moves/);
    await accessible(page, 'link');
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
  },
  async 'add a maintenance by dragging, and remove it'() {
    await page.goto(`${address}#/calendar`);
    await calendar(page);
    await page.keyboard.down('Alt');
    await drag(page, 1, 1200, 1300);
    await page.keyboard.up('Alt');
    await page.getByLabel('Reason').fill('new disks');
    await accessible(page, 'maintenance');
    await page.getByRole('button', { name: 'Add maintenance' }).click();
    await page.getByText(/^Maintenance added for /).waitFor();
    const announced = async () =>
      (await ask(context, address, 'GET', 'maintenances')).maintenances.length;
    assert.equal(await announced(), 1);
    const box = await page.locator('.grid').boundingBox();
    // Until its hatching is there, a click opens nothing.
    await eventually(async () => {
      await page.mouse.click(box.x + 1250, box.y + 46 + 45);
      return page.getByRole('button', { name: 'Remove maintenance' }).isVisible();
    });
    await page.getByRole('button', { name: 'Remove maintenance' }).click();
    await page.getByText('Maintenance removed.').waitFor();
    assert.equal(await announced(), 0);
  },
});

/** Wait until the grid announces something. */
const said = (page, what) =>
  page.locator('#cell', { hasText: what }).waitFor({ state: 'attached' });

/** Press a key in the grid, and wait until it announces something. */
async function spoken(page, key, what) {
  await page.locator('.grid').focus();
  await page.keyboard.press(key);
  await said(page, what);
}
