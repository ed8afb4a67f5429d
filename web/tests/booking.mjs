// SPDX-License-Identifier: Apache-2.0

/** Steps without authentication: book, change and delete leases, in every view. */
import assert from 'node:assert/strict';
import {
  accessible, ask, available, calendar, counted, drag, eventually, holdBack, lease, leasesOf, look,
  please,
} from './person.mjs';

/** The views, and what only each of them has. */
const VIEWS = { calendar: '.grid', utilisation: '.chart', leases: '.page .table' };
const THEMES = ['light', 'dark'];

/** Return the steps of a person at an address, in their order. */
export const booking = (
  context, page, address, { named, gone, remove } = leasesOf(context, address),
) => ({
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
    await page.getByRole('option', { name: 'By rack' }).waitFor({ state: 'attached' });
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
    const change = async (hours) => {
      await page.getByRole('button', { name: 'Times…' }).click();
      const to = page.getByLabel('To', { exact: true });
      const end = Date.parse(`${await to.inputValue()}Z`) + hours * 3600000;
      await to.fill(new Date(end).toISOString().slice(0, 16));
      await to.blur();
      await page.getByRole('complementary').getByText('Possible.', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      // The notice of one change is there for a while, also during the next one.
      await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
      await page.getByText(/^by-drag is now from/).waitFor();
      return Date.parse((await named('by-drag')).end_date);
    };
    const first = Date.parse((await named('by-drag')).end_date);
    assert.equal(await change(2), first + 2 * 3600000);
    assert.equal(await change(-1), first + 3600000);
    await accessible(page, 'lease');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('This deletes “by-drag”.').waitFor();
    // A notice is shown for some seconds, which a click can take on a busy machine.
    const notice = page.getByText('by-drag was deleted.').waitFor();
    await page.getByRole('button', { name: 'Delete lease' }).click();
    await notice;
    await gone('by-drag');
  },
  async 'book by keyboard'() {
    await page.locator('.grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await available(page);
    await page.keyboard.type('by-keys');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'by-keys' }).waitFor();
    await page.keyboard.press('Escape');
    await remove('by-keys');
  },
  async 'what is filtered is what is booked'() {
    const search = page.getByRole('searchbox');
    const amount = page.getByLabel('How many');
    await search.fill('rack = r2');
    await counted(page, '1 resource');
    // So do the figures.
    await page.locator('.strip-legend', { hasText: 'rack = r21 of 1 free' }).waitFor();
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.locator('.chip').getByText('rack = r2', { exact: true }).waitFor();
    await page.getByText('1 of 1 host free for 1 h.').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('n'.repeat(90));
    await page.getByText('The name can have at most 80 characters.').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('filtered');
    await amount.fill('2');
    await page.getByText('1 host matches.').waitFor();
    await accessible(page, 'conditions');
    // A refusal says what can be had, and a click takes it.
    await page.getByRole('button', { name: /^1 host at that time/ }).click();
    await page.getByRole('heading', { name: 'filtered' }).waitFor();
    const made = await named('filtered');
    const query = `resource_type=physical:host&lease_id=${made.id}`;
    const { calendar: found } = await ask(context, address, 'GET', `calendar?${query}`);
    assert.deepEqual(found.resources.name, ['compute-2']);
    await page.keyboard.press('Escape');
    await remove('filtered');
    // Without the chip any host will do; another one is chosen of what is known.
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.getByRole('button', { name: 'Remove the condition rack = r2' }).click();
    await page.getByText('1 of 2 hosts free for 1 h.').or(page.getByText('2 of 2 hosts free for 1 h.')).waitFor();
    await page.getByLabel('Add a condition').selectOption('rack');
    await page.getByLabel('Value').selectOption({ label: 'r1 (1)' });
    await page.locator('.chip').getByText('rack = r1', { exact: true }).waitFor();
    await page.getByText('1 of 1 host free for 1 h.').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await search.fill('');
    await counted(page, '2 resources');
    // A property that no host has is named, with those that there are.
    await search.fill('racks=r2');
    await counted(page, 'No matching resources.');
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.getByText(/No host has the property racks; there are .*, rack, /).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await search.fill('');
    await counted(page, '2 resources');
    // Nor does a group that is shown alone differ from a search.
    await page.getByLabel('Group by').selectOption('rack');
    await page.getByLabel('Show group').selectOption({ label: 'r2' });
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.locator('.chip').getByText('rack = r2', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByLabel('Group by').selectOption('');
  },
  async 'a service that has too many requests at once is asked again'() {
    let busy = 2;
    const refusal = { error_name: 'TOO_MANY_AT_ONCE', error_message: 'Too many requests' };
    await page.route('**/v1/leases', (route) => (
      busy-- > 0 ? route.fulfill({ status: 429, json: refusal }) : route.continue()));
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await available(page);
    assert.ok(busy < 0, String(busy));
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Close' }).click();
  },
  async 'a form begins in the period that one looks at'() {
    for (let half = 0; half < 4; half++) await page.getByRole('button', { name: 'Later', exact: true }).click();
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    const start = await page.getByLabel('From', { exact: true }).inputValue();
    const days = (Date.parse(`${start}Z`) - Date.now()) / 86400000;
    assert.ok(days > 12 && days < 15, start);
    await page.getByText(/^Times in (Etc\/GMT|UTC)/).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Today', exact: true }).click();
  },
  async 'a form asks for what its type needs'() {
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    const what = page.getByRole('combobox', { name: 'What', exact: true });
    await what.selectOption('A server, mine or a new one');
    await page.getByText('Still to fill in: A server of mine, or Its name, Flavor.').waitFor();
    await page.getByRole('textbox', { name: 'A server of mine' }).fill('mine');
    await page.getByText('A server of mine: it is not the id of a server.').waitFor();
    await what.selectOption('A stack, mine or a new one');
    await page.getByText('More options').click();
    await page.getByRole('textbox', { name: 'Parameters' }).fill('{');
    await page.getByRole('textbox', { name: 'A stack of mine' }).fill('mine');
    await page.getByText('Parameters is not valid JSON.').waitFor();
    await accessible(page, 'stack');
    await page.getByRole('button', { name: 'Close' }).click();
  },
  async 'several types in one lease, and a type forgets what others have'() {
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('several');
    await page.getByRole('combobox', { name: 'What', exact: true }).selectOption('Servers by size');
    await page.getByText(/Still to fill in: Processors of each, Memory/).waitFor();
    for (const field of ['Processors of each', 'Memory of each, in MiB', 'Disk of each, in GiB']) {
      await page.getByLabel(field).fill('1');
    }
    await page.getByText(/Available. Room for [0-9]+ servers for 1 h./).waitFor();
    await page.getByRole('button', { name: 'Add another' }).click();
    const second = page.getByRole('group', { name: 'Reservation 2' });
    const kind = second.getByRole('combobox', { name: 'What', exact: true });
    await eventually(() => kind.evaluate((one) => one === document.activeElement));
    await kind.selectOption('Network');
    await second.getByLabel('Name of the network').fill('lab');
    await available(page);
    await accessible(page, 'several');
    await page.locator('form button[type=submit]').click();
    await page.getByRole('heading', { name: 'several' }).waitFor();
    const made = await named('several');
    assert.deepEqual(made.reservations.map((one) => one.resource_type), ['virtual:instance', 'network']);
    await page.keyboard.press('Escape');
    await remove('several');
  },
  async 'find a time, hold it and take it'() {
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('found');
    await page.getByRole('button', { name: 'Find a time' }).click();
    await page.getByLabel('For how long').fill('2');
    await page.getByLabel('From (time of day)').fill('09:00');
    await page.getByLabel('Until (time of day)').fill('10:00');
    await page.getByRole('button', { name: 'Find times' }).click();
    await page.getByText('That is longer than the days and hours allow.').waitFor();
    await page.getByLabel('Until (time of day)').fill('12:00');
    await page.keyboard.press('Enter');
    const times = page.getByRole('button', { name: /^1 host from .*09:00/ });
    await times.first().waitFor();
    await accessible(page, 'finder');
    await page.getByRole('button', { name: /^Hold for 10 minutes/ }).last().click();
    const held = page.getByRole('button', { name: /held until/ });
    await held.waitFor();
    await held.click();
    await page.getByRole('heading', { name: 'found' }).waitFor();
    const made = await named('found');
    assert.equal(Date.parse(made.end_date) - Date.parse(made.start_date), 2 * 3600000);
    await page.keyboard.press('Escape');
    await remove('found');
  },
  async 'hold an offer, release it, hold another and take it'() {
    await ask(context, address, 'POST', 'leases', lease('blocker', 4, 1));
    const held = async () => {
      const query = 'calendar?resource_type=physical:host';
      return (await ask(context, address, 'GET', query)).calendar.held.length;
    };
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('by-offer');
    const hold = async () => {
      await page.getByLabel('How many').fill('2');
      await page.getByText('Not available.').waitFor();
      await page.getByRole('button', { name: /^Hold the first offer/ }).click();
      await page.getByText(/, held until/).waitFor();
      assert.equal(await held(), 2);
    };
    await hold();
    await accessible(page, 'offers');
    assert.ok(await page.locator('form button[type=submit]').isDisabled());
    // What is wanted now fits, so that nothing is to be held for it.
    await page.getByLabel('How many').fill('1');
    await available(page);
    await eventually(async () => await held() === 0);
    await hold();
    await page.getByRole('button', { name: /held until/ }).click();
    await page.getByRole('heading', { name: 'by-offer' }).waitFor();
    assert.equal(await held(), 0);
    const [made, blocker] = [await named('by-offer'), await named('blocker')];
    assert.ok(Date.parse(made.start_date) >= Date.parse(blocker.end_date), made.start_date);
    await page.keyboard.press('Escape');
    await remove('by-offer', 'blocker');
  },
  async 'as soon as possible, and moved into what becomes free'() {
    await ask(context, address, 'POST', 'leases', lease('first', 4, 2));
    const first = await named('first');
    const end = Date.parse(first.end_date);
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('soon');
    await page.getByLabel('How many').fill('2');
    await page.getByRole('button', { name: 'As soon as possible' }).click();
    await page.getByLabel('For how long').fill('2');
    const by = page.getByLabel('By (optional)');
    const until = async (at) => {
      const minutes = await page.evaluate((when) => new Date(when).getTimezoneOffset(), at);
      await by.fill(new Date(at - minutes * 60000).toISOString().slice(0, 16));
      await by.blur();
    };
    await until(end + 3600000);
    await page.getByText(/Not available\. There is no room for it by /).waitFor();
    assert.ok(await page.locator('form button[type=submit]').isDisabled());
    await until(Date.now() + 3600000);
    await page.getByText('That is longer than these times allow.').waitFor();
    await until(end + 24 * 3600000);
    await page.getByText(/Available\. At present /).waitFor();
    await accessible(page, 'soon');
    await page.locator('form button[type=submit]').click();
    await page.getByRole('heading', { name: 'soon' }).waitFor();
    await page.getByText(/^It may still move: forward/).waitFor();
    await page.locator('.facts', { hasText: /Window.* to .*Firmfrom / }).waitFor();
    const made = await named('soon');
    assert.ok(Date.parse(made.start_date) >= end, made.start_date);
    assert.equal(Date.parse(made.end_date) - Date.parse(made.start_date), 2 * 3600000);
    assert.equal(Date.parse(made.latest), Math.floor(end / 60000) * 60000 + 24 * 3600000);
    await accessible(page, 'flexible');
    await page.getByRole('button', { name: 'Times…' }).click();
    await page.getByText('New times fix the lease: it no longer moves.').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.locator('.grid').focus();
    const said = async (more = '') => new RegExp(`lease soon of your project.* Its start may still move\\.${more}`)
      .test(await page.locator('#cell').textContent());
    await eventually(async () => {
      await page.keyboard.press('Home');
      // What was before may have left bars.
      for (let steps = 0; steps < 9 && !await said(); steps++) await page.keyboard.press('ArrowRight');
      return said();
    });
    await eventually(() => said(' It moves between .* and .*\\.$'));
    await page.keyboard.press('Enter');
    await remove('first');
    await eventually(async () => Date.parse((await named('soon')).start_date) < end);
    await look(page);
    await page.locator('.facts', { hasText: 'Firmsince ' }).waitFor();
    await page.locator('.steps', { hasText: 'moved forward to ' }).waitFor();
    assert.equal(await page.getByText(/^It may still move/).count(), 0);
    await page.keyboard.press('Escape');
    await remove('soon');
  },
  async 'wait for room, and change the window'() {
    await ask(context, address, 'POST', 'leases', lease('full', 4, 2));
    const { end_date: end } = await named('full');
    const { reservations } = lease('', 1, 2);
    const flexible = { duration: '2h', reservations };
    await ask(context, address, 'POST', 'leases', { ...flexible, name: 'waiter', latest: end, wait: true });
    await ask(context, address, 'POST', 'leases', { ...flexible, name: 'mover' });
    await page.goto(`${address}#/leases`);
    const queue = page.getByRole('region', { name: 'Waiting for room' });
    await queue.getByText(/^none in its window; room from /).waitFor();
    await queue.getByText(/^[12] hosts? until /).waitFor();
    assert.equal(await queue.getByRole('row').count(), 2);
    await accessible(page, 'queue');
    await queue.getByRole('button', { name: 'waiter' }).click();
    await page.getByText('It waits until there is room in its window.').waitFor();
    await page.locator('.facts', { hasText: 'Place 1, 0 leases ahead' }).waitFor();
    await accessible(page, 'waiting');
    assert.equal(await page.getByRole('button', { name: 'Times…' }).count(), 0);
    await page.getByRole('button', { name: 'Window…' }).click();
    await page.getByText('The lease waits on, for room in the new window.').waitFor();
    await page.getByLabel('For how long').fill('1');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('waiter was changed.').waitFor();
    const waiter = await named('waiter');
    assert.deepEqual([waiter.status, waiter.latest], ['WAITING', end]);
    assert.equal(Date.parse(waiter.end_date) - Date.parse(waiter.start_date), 3600000);
    await page.getByRole('button', { name: 'mover' }).click();
    await page.locator('.facts', { hasText: 'Place 2, 1 lease ahead' }).waitFor();
    const before = await named('mover');
    await page.getByRole('button', { name: 'Window…' }).click();
    await page.getByLabel('For how long').fill('3');
    await accessible(page, 'window');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('mover was changed.').waitFor();
    const after = await named('mover');
    assert.equal(Date.parse(after.end_date) - Date.parse(after.start_date), 3 * 3600000);
    assert.equal(after.earliest, before.earliest);
    await page.getByRole('button', { name: 'Close' }).click();
    await remove('full');
    // What was in the way is gone, and each gets its turn.
    await eventually(async () => ['PENDING', 'STARTING', 'ACTIVE'].includes((await named('waiter')).status));
    await look(page);
    await queue.waitFor({ state: 'detached' });
    await remove('waiter', 'mover');
    await page.goto(`${address}#/calendar`);
    await calendar(page);
  },
  async 'a form for a lease that waits, and gives way'() {
    await ask(context, address, 'POST', 'leases', lease('full', 4, 2));
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('gaps');
    await page.getByRole('button', { name: 'As soon as possible' }).click();
    await page.getByLabel('For how long').fill('1');
    const { end_date: end } = await named('full');
    await page.getByLabel('By (optional)').fill(await page.evaluate((at) => {
      const date = new Date(at);
      return new Date(date - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
    }, end));
    await page.getByText(/Not available\. There is no room for it by /).waitFor();
    await page.getByLabel('Wait for room if there is none').check();
    await page.getByText('There is no room at present. The lease waits for it.').waitFor();
    await page.getByLabel('Give way to other projects').check();
    await page.getByText(/^It begins earlier, in the gaps between others, and gives up/).waitFor();
    await page.getByLabel('When others need its place').selectOption('Begin again');
    await page.getByText(/and it begins again from the start\.$/).waitFor();
    await accessible(page, 'gaps');
    await page.locator('form button[type=submit]').click();
    await page.getByText('It waits until there is room in its window.').waitFor();
    await page.locator('.facts', { hasText: /When others need itbegins againTime left1 h/ }).waitFor();
    const made = await named('gaps');
    assert.deepEqual([made.status, made.preemptible, made.yield], ['WAITING', true, 'requeue']);
    await page.keyboard.press('Escape');
    await remove('full', 'gaps');
  },
  async 'an open form sees that what was in the way is gone'() {
    await ask(context, address, 'POST', 'leases', lease('in-the-way', 4, 2));
    await page.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.getByText('Not available.').waitFor();
    await remove('in-the-way');
    await available(page);
    await page.keyboard.press('Escape');
  },
  async 'two tabs'() {
    await ask(context, address, 'POST', 'leases', lease('in-two-tabs', 8, 2));
    const other = await context.newPage();
    await other.goto(address);
    await calendar(other);
    await other.locator('.grid').focus();
    await other.keyboard.press('Home');
    await other.locator('#cell', { hasText: 'lease in-two-tabs of your project' }).waitFor({ state: 'attached' });
    const before = await other.locator('#cell').textContent();
    await other.keyboard.press('Enter');
    await other.getByRole('heading', { name: 'in-two-tabs' }).waitFor();
    // A tab in the background is slow, for it is drawn once in a second.
    await page.bringToFront();
    await page.goto(`${address}#/leases`);
    await page.getByRole('button', { name: 'in-two-tabs' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete lease' }).click();
    await page.getByText('in-two-tabs was deleted.').waitFor();
    await gone('in-two-tabs');
    await other.bringToFront();
    await look(other);
    await other.getByText('This lease no longer exists.').waitFor();
    await other.keyboard.press('Escape');
    // What is left of its bar ended when it was deleted.
    await eventually(async () => {
      await other.keyboard.press('Home');
      return await other.locator('#cell').textContent() !== before;
    });
    await other.keyboard.press('ArrowRight');
    await other.locator('#cell', { hasText: /: free from/ }).waitFor({ state: 'attached' });
    await other.close();
    await page.bringToFront();
  },
  async 'the service goes away and comes back'() {
    await page.getByRole('link', { name: 'Calendar' }).click();
    await page.locator('.strip-legend', { hasText: /of 2 free/ }).waitFor();
    await please('stop the service');
    await look(page);
    await page.getByRole('alert').getByText('Climate is not responding').waitFor();
    await accessible(page, 'away');
    // What it has stays, also what is free.
    assert.match(await page.locator('.strip-legend').innerText(), /of 2 free/);
    await please('start the service');
    await look(page);
    await page.getByText('Back online.').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  },
  async 'every view, light and dark'() {
    await ask(context, address, 'POST', 'leases', lease('to-be-seen', 8, 1));
    await everyView(page, address, 'wide');
  },
  async 'German'() {
    await page.getByLabel('Language').selectOption('de');
    await page.getByRole('link', { name: 'Kalender' }).click();
    await counted(page, '2 Ressourcen');
  },
});

/** Visit each view in each theme, and fail if it breaks a rule of accessibility. */
async function everyView(page, address, how) {
  for (const theme of THEMES) {
    await page.getByLabel('Theme').selectOption(theme);
    for (const [view, own] of Object.entries(VIEWS)) {
      await page.goto(`${address}#/${view}`);
      await page.locator(own).waitFor();
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
    await counted(page, '2 resources');
    const box = await page.locator('.grid').boundingBox();
    await page.touchscreen.tap(box.x + box.width - 40, box.y + 46 + 15);
    await available(page);
    await accessible(page, 'form narrow dark');
    await page.getByRole('button', { name: 'Close' }).click();
  },
  async 'filter on a phone'() {
    const search = page.getByRole('searchbox');
    assert.ok(!await search.isVisible());
    await page.getByText('Filter and group').tap();
    await search.fill('compute-2');
    await counted(page, '1 resource');
    await accessible(page, 'filters narrow');
    await search.fill('');
    await counted(page, '2 resources');
    await page.getByText('Filter and group').tap();
    await search.waitFor({ state: 'hidden' });
  },
  async 'nothing is wider than the screen'() {
    const [wide, seen] = await page.evaluate(
      () => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(wide <= seen, `${wide} ${seen}`);
  },
});
