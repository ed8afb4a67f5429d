// SPDX-License-Identifier: Apache-2.0

/** What people do with leases that they have: use, find and change them. */
import assert from 'node:assert/strict';
import { accessible, ask, calendar, eventually, leasesOf, look, spoken } from './person.mjs';

const HOUR = 3600000;
const soon = (hours) => `${new Date(Date.now() + hours * HOUR).toISOString().slice(0, 13)}:00:00Z`;

/** Return the body of a lease of hosts from an hour on. */
const later = (name, from, to, hosts = 1) => ({
  name, start_date: soon(from), end_date: soon(to),
  reservations: [{ resource_type: 'physical:host', min: hosts, max: hosts }],
});

/** Wait until the drawer says that a change can be made. */
const possible = (page) =>
  page.getByRole('complementary').getByText('Possible.', { exact: true }).waitFor();

/** Return the steps of a person at an address, in their order. */
export const changes = (
  context, page, address, { named, gone, remove } = leasesOf(context, address),
) => ({
  async 'what one has, and how to use it'() {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const { lease } = await ask(context, address, 'POST', 'leases', { ...later('used', 0, 30), start_date: 'now' });
    await eventually(async () => (await named('used')).status === 'ACTIVE');
    await page.setViewportSize({ width: 1440, height: 500 });
    await page.goto(`${address}#/lease/${lease.id}`);
    const { id } = lease.reservations[0];
    const drawer = page.getByRole('complementary');
    await drawer.getByRole('heading', { name: '1 host', exact: true }).waitFor();
    await drawer.getByText(/^compute-[12]$/).waitFor();
    assert.equal(await drawer.evaluate((one) => one.scrollTop), 0);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Copy: Create a server on these hosts' }).click();
    await spoken(page, 'Copied: Create a server on these hosts');
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    assert.match(await copied(), new RegExp(`^openstack server create --hint reservation=${id} `));
    // Without HTTPS there is no clipboard.
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined }));
    await page.getByRole('button', { name: 'Copy: Reservation ID' }).click();
    await spoken(page, 'Copied: Reservation ID');
    await page.reload();
    assert.equal(await copied(), id);
    await drawer.locator('.facts', { hasText: /Owneradmin.*Projectdemo/ }).waitFor();
    await accessible(page, 'use');
  },
  async 'names of many resources are folded'() {
    const many = Array.from({ length: 200 }, (_, n) => ({ id: `${n}`, name: `node-${n}` }));
    await page.route(/v1.leases.[-0-9a-f]{36}$/, async (route) => {
      const answer = await route.fetch();
      const body = await answer.json();
      Object.assign(body.lease.reservations[0], { resources: many, resources_count: 1200 });
      await route.fulfill({ response: answer, json: body });
    });
    await page.reload();
    await page.getByRole('heading', { name: '1,200 hosts' }).waitFor();
    assert.doesNotMatch(await page.locator('.names').textContent(), /node-12\b/);
    await page.getByRole('button', { name: 'Show all 200' }).click();
    assert.match(await page.locator('.names').textContent(), /node-199.*1,000 more are not listed/);
    await page.unrouteAll({ behavior: 'wait' });
  },
  async 'end a lease now, knowing what is lost'() {
    await page.reload();
    const host = await page.locator('.names strong', { hasText: 'compute' }).textContent();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByText(`All servers on ${host} will be deleted.`).waitFor();
    await page.getByRole('button', { name: 'End now…' }).click();
    await page.getByText('This ends “used” now.').waitFor();
    await page.getByText(`All servers on ${host} will be deleted.`).waitFor();
    await accessible(page, 'end now');
    await page.getByRole('button', { name: 'End lease now' }).click();
    await page.getByText('used ends now.').waitFor();
    await eventually(async () => (await named('used')).status === 'TERMINATED');
    await look(page);
    await page.getByRole('complementary').locator('.badge', { hasText: 'Ended' }).waitFor();
    await page.keyboard.press('Escape');
  },
  async 'lists: whose, by name, and what has ended'() {
    await ask(context, address, 'POST', 'leases', later('list-b', 62, 64));
    await ask(context, address, 'POST', 'leases', later('list-a', 50, 60));
    await other(address, 'bob:demo:member', later('of-bob', 70, 71));
    await other(address, 'ann:elsewhere:member', later('of-ann', 80, 81));
    await page.goto(`${address}#/leases`);
    const names = () => page.locator('.table tbody th').allTextContents();
    const shown = (wanted) => eventually(async () =>
      JSON.stringify((await names()).filter((name) => /^(list|of|used)/.test(name))) === JSON.stringify(wanted));
    await shown(['list-a', 'list-b']);
    await page.getByRole('button', { name: 'My project', exact: true }).click();
    await shown(['list-a', 'list-b', 'of-bob']);
    // All pages are read, however few leases each has.
    await page.route(/v1.leases\?.*limit=25/, (route) =>
      route.continue({ url: route.request().url().replace('limit=25', 'limit=1') }));
    await page.getByRole('button', { name: 'All projects' }).click();
    await shown(['list-a', 'list-b', 'of-bob', 'of-ann']);
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('row', { name: /of-ann.*Pending.*1 host.*ann.*elsewhere/ }).waitFor();
    await page.setViewportSize({ width: 320, height: 700 });
    const widths = () => page.locator('.page').evaluate((one) => [one.scrollWidth, one.clientWidth]);
    await eventually(async () => (await widths())[0] === (await widths())[1]);
    await page.getByRole('cell', { name: 'elsewhere' }).waitFor();
    await accessible(page, 'list narrow');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByLabel('Ended leases too').check();
    await shown(['of-ann', 'of-bob', 'list-b', 'list-a', 'used']);
    await page.getByLabel('Status').selectOption('Ended');
    await shown(['used']);
    await accessible(page, 'list');
    await page.getByLabel('Status').selectOption('');
    await page.getByLabel('Ended leases too').uncheck();
    await page.getByLabel('Search by name').fill('BOB');
    await shown(['of-bob']);
    await page.getByText('1 lease', { exact: true }).waitFor();
    await page.getByLabel('Search by name').fill('');
    await page.getByRole('button', { name: 'Mine', exact: true }).click();
    await shown(['list-a', 'list-b']);
    await remove('of-bob', 'of-ann', 'list-b');
  },
  async 'rename, remind, more and fewer hosts'() {
    await page.getByRole('button', { name: 'list-a' }).click();
    await page.getByRole('button', { name: 'Rename…' }).click();
    await page.getByLabel('Name', { exact: true }).fill('mine-now');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'mine-now' }).waitFor();
    await page.locator(':focus', { hasText: 'Rename…' }).waitFor();
    await page.getByRole('button', { name: 'Reminders…' }).click();
    const start = page.getByRole('group', { name: 'Remind me before the start' });
    await start.getByLabel('Only these').check();
    await start.getByLabel('1 h').check();
    await start.getByLabel('1 d').check();
    await page.getByLabel('Remind me before the end').selectOption('4 h');
    await accessible(page, 'reminders');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('mine-now was changed.').waitFor();
    const { notify_before_start, before_end_date, end_date } = await named('mine-now');
    assert.deepEqual(notify_before_start, [86400, 3600]);
    assert.equal(Date.parse(end_date) - Date.parse(before_end_date), 4 * HOUR);
    // Two of them are one line; messages to programs and checks are none.
    await eventually(async () => JSON.stringify(await page.locator('.steps li span').allTextContents())
      === JSON.stringify(['reminder of the start', 'prepare', 'start', 'reminder of the end', 'end']));
    const amounts = async (max, verdict) => {
      await page.getByRole('button', { name: 'Resources…' }).click();
      await page.getByLabel('At least').fill(`${max}`);
      await page.getByLabel('At most').fill(`${max}`);
      await page.getByRole('complementary').getByText(verdict).waitFor();
    };
    await amounts(3, 'Not possible.');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await amounts(2, 'Possible.');
    await accessible(page, 'amounts');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: '2 hosts', exact: true }).waitFor();
    await amounts(1, 'Possible.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: '1 host', exact: true }).waitFor();
  },
  async 'no limit where nothing is in the way, and what is in the way'() {
    await page.getByRole('button', { name: 'Times…' }).click();
    const end = page.getByLabel('To', { exact: true });
    const far = new Date(Date.now() + 60 * 24 * HOUR).toISOString().slice(0, 16);
    await end.fill(far);
    await end.blur();
    await possible(page);
    await ask(context, address, 'POST', 'leases', later('blocks', 100, 110, 2));
    await page.getByRole('button', { name: '+1 d' }).click();
    await page.getByText(/Not possible.*It can be extended until/).waitFor();
    await page.getByText(/Other leases have .* hosts? until/).waitFor();
    await accessible(page, 'blocked');
    await page.locator('.offers button').last().click();
    await possible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^mine-now is now from/).waitFor();
    assert.equal((await named('mine-now')).end_date, (await named('blocks')).start_date);
    await page.keyboard.press('Escape');
    await remove('blocks');
  },
  async 'a lease that was deleted elsewhere says so once'() {
    const { id } = (await ask(context, address, 'POST', 'leases', later('elsewhere', 90, 91))).lease;
    await page.goto(`${address}#/lease/${id}`);
    await page.getByRole('heading', { name: 'elsewhere' }).waitFor();
    await remove('elsewhere');
    await look(page);
    await page.getByText('This lease no longer exists.').waitFor();
    const asked = [];
    const note = (request) => request.url().includes(id) && asked.push(request.url());
    page.on('request', note);
    await look(page);
    await look(page);
    await page.getByRole('button', { name: 'Close' }).click();
    page.off('request', note);
    assert.deepEqual(asked, []);
    await gone('elsewhere');
  },
  async 'links for calendars are listed and revoked'() {
    await page.goto(`${address}#/leases`);
    const links = async () => (await ask(context, address, 'GET', 'feeds')).feeds.length;
    const before = await links();
    await ask(context, address, 'POST', 'feeds', { name: 'for my phone', time_zone: 'UTC' });
    await page.reload();
    await page.getByRole('button', { name: 'Revoke for my phone' }).click();
    await accessible(page, 'revoke');
    await page.getByRole('button', { name: 'Revoke link' }).click();
    await page.getByText('The link for my phone was revoked.').waitFor();
    await page.getByText('for my phone', { exact: true }).waitFor({ state: 'detached' });
    assert.equal(await links(), before);
    // One that is made here is listed at once.
    await page.getByRole('button', { name: 'Create calendar link' }).click();
    await page.getByRole('textbox', { name: 'Subscribe to this address' }).waitFor();
    await page.getByRole('button', { name: 'Revoke demo' }).click();
    await page.getByRole('button', { name: 'Revoke link' }).click();
    await page.getByText('The link demo was revoked.').waitFor();
    // That address is no longer answered.
    await page.getByRole('textbox', { name: 'Subscribe to this address' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Create calendar link' }).waitFor();
    assert.equal(await links(), before);
  },
  async 'steps of several resource types name their type'() {
    const { lease } = await ask(context, address, 'POST', 'leases', {
      ...later('two-types', 0, 20), start_date: 'now', reservations: [
        { resource_type: 'physical:host', min: 1, max: 1 }, { resource_type: 'network', network_name: 'lab-2' },
      ],
    });
    await eventually(async () => (await named('two-types')).status === 'ACTIVE');
    await page.goto(`${address}#/lease/${lease.id}`);
    const did = (words) => page.locator('.steps li.done').getByText(words, { exact: true }).waitFor();
    await did('start: Hosts');
    await did('start: Network');
    await page.getByRole('button', { name: 'Close' }).click();
    await remove('two-types');
  },
  ...moving(context, page, address, { named, remove }),
});

/** Book as another user; without Keystone, the token names them. */
async function other(address, token, data) {
  const answer = await fetch(new URL('../v1/leases', address), {
    method: 'POST', body: JSON.stringify(data), headers: {
      'Content-Type': 'application/json', 'OpenStack-API-Version': 'reservation 1.7', 'X-Auth-Token': token,
    },
  });
  assert.ok(answer.ok, await answer.text());
}

/** Return the steps in which a bar, or an edge of it, is dragged or moved by keys. */
const moving = (context, page, address, { named, remove }) => ({
  async 'the window of a lease that may still move, while the pointer is on it'() {
    await remove('mine-now');
    const { reservations } = later('', 0, 0);
    await ask(context, address, 'POST', 'leases', {
      name: 'movable', duration: '24h', earliest: soon(48), latest: soon(90), reservations,
    });
    await page.goto(`${address}#/calendar`);
    await page.getByRole('button', { name: 'Week', exact: true }).click();
    await page.getByRole('button', { name: 'Today' }).click();
    await calendar(page);
    const { start_date } = await named('movable');
    const at = await placer(page);
    await eventually(async () => {
      await page.mouse.move(...await at(Date.parse(start_date) + 12 * HOUR));
      return await page.locator('[title^="It moves between"]').count() === 1;
    });
    await page.mouse.move(0, 0);
    await eventually(async () => await page.locator('[title^="It moves between"]').count() === 0);
    await remove('movable');
  },
  async 'drag a lease, its end, and think better of it'() {
    await ask(context, address, 'POST', 'leases', later('dragged', 30, 42));
    await page.goto(`${address}#/calendar`);
    await page.getByRole('button', { name: 'Week', exact: true }).click();
    await page.getByRole('button', { name: 'Today' }).click();
    await calendar(page);
    const times = async () => {
      const { start_date, end_date } = await named('dragged');
      return [Date.parse(start_date), Date.parse(end_date)];
    };
    const before = await times();
    const at = await placer(page);
    await eventually(async () => {
      await page.mouse.move(...await at(before[1] - HOUR));
      return await page.locator('.grid').getAttribute('data-cursor') === 'pointer';
    });
    const drag = async (from, to) => {
      await page.mouse.move(...await at(from));
      await page.mouse.down();
      await page.mouse.move(...await at(to), { steps: 5 });
    };
    await drag(before[1] - 6 * HOUR, before[1] + 6 * HOUR);
    await spoken(page, /^Possible\./);
    await page.keyboard.press('Escape');
    await page.mouse.up();
    assert.equal(await page.getByRole('complementary').count(), 0);
    await drag(before[1] - 6 * HOUR, before[1] + 6 * HOUR);
    await page.mouse.up();
    await possible(page);
    await accessible(page, 'dragged');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^dragged is now from/).waitFor();
    const moved = await times();
    assert.equal(moved[1] - moved[0], before[1] - before[0]);
    assert.equal(moved[0] - before[0], 12 * HOUR);
    await page.keyboard.press('Escape');
    await eventually(async () => {
      await page.mouse.move(...await at(moved[1], -2));
      return await page.locator('.grid').getAttribute('data-cursor') === 'resize';
    });
    await page.mouse.down();
    await page.mouse.move(...await at(moved[1] + 6 * HOUR, -2), { steps: 5 });
    await page.mouse.up();
    await possible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => JSON.stringify(await times()) === JSON.stringify([moved[0], moved[1] + 6 * HOUR]));
    await page.keyboard.press('Escape');
  },
  async 'move a lease and its end by keys'() {
    const { start_date, end_date } = await named('dragged');
    const cell = page.locator('#cell');
    await page.locator('.grid').focus();
    await page.keyboard.press('Home');
    for (let tries = 0; !/lease dragged of your project/.test(await cell.textContent()); tries++) {
      assert.ok(tries < 40, await cell.textContent());
      await page.keyboard.press(tries % 20 === 19 ? 'ArrowDown' : 'ArrowRight');
      if (tries % 20 === 19) await page.keyboard.press('t');
    }
    await page.keyboard.press('m');
    await cell.getByText(/^Moving dragged\./).waitFor({ state: 'attached' });
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Escape');
    await cell.getByText(/lease dragged of your project/).waitFor({ state: 'attached' });
    await page.keyboard.press('m');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    await spoken(page, /^Possible\./);
    await page.keyboard.press('Enter');
    await possible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    // The notice of the step before may still be there.
    await eventually(async () => (await named('dragged')).start_date > start_date);
    const now = await named('dragged');
    assert.ok(Date.parse(now.end_date) - Date.parse(now.start_date) > Date.parse(end_date) - Date.parse(start_date));
    await page.keyboard.press('Escape');
    await remove('dragged');
  },
});

/** Return a function that returns where an instant is in the row that has the lease. */
async function placer(page) {
  const NAMES = 210;
  const { resources, allocations } = await page.evaluate(async () => {
    const query = new URLSearchParams({ resource_type: 'physical:host', start: new Date().toISOString() });
    const answer = await fetch(`../v1/calendar?${query}`, { headers: { 'OpenStack-API-Version': 'reservation 1.7' } });
    return (await answer.json()).calendar;
  });
  const row = Math.max(...allocations.resource.filter((_, n) => allocations.start[n] * 1000 > Date.now() + 20 * HOUR));
  assert.ok(row < resources.id.length);
  // The view begins a fourteenth of a week before the present.
  const first = Date.now() - 12 * HOUR;
  return async (at, pixels = 0) => {
    const box = await page.locator('.grid').boundingBox();
    const x = NAMES + ((at - first) / (168 * HOUR)) * (box.width - NAMES) + pixels;
    return [box.x + x, box.y + 46 + row * 30 + 15];
  };
}
