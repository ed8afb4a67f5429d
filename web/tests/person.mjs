// SPDX-License-Identifier: Apache-2.0

/** What the steps of a person in a browser are made of. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Have the test around this do something, and wait until it has. */
export async function please(what) {
  process.stdout.write(`please ${what}\n`);
  const { value } = await input.next();
  assert.equal(value, 'done');
}

/** Fail if what is shown breaks a rule of accessibility; take a picture if one is wanted. */
export async function accessible(page, where) {
  const folder = process.env.CLIMATE_WEB_PICTURES;
  if (folder) await page.screenshot({ path: join(folder, `${where.replaceAll(' ', '-')}.png`) });
  // Through the debugger, because the policy of the page forbids it scripts of others.
  if (!await page.evaluate(() => 'axe' in globalThis)) await page.evaluate(AXE);
  // All results are a megabyte, and the page need not send those that are fine.
  const broken = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run({ resultTypes: ['violations'] });
    return violations.map((one) => [one.id, one.nodes[0].html]);
  });
  assert.deepEqual(broken, [], where);
}

/** Drag over a row, between two places in pixels from the left of the grid. */
export async function drag(page, row, from, to) {
  const box = await page.locator('.grid').boundingBox();
  const y = box.y + 46 + row * 30 + 15;
  await page.mouse.move(box.x + from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + to, y, { steps: 5 });
  await page.mouse.up();
}

/** Wait until the rows of the calendar are there. */
export const calendar = (page) => page.getByText(/^[0-9,]+ resources?$/).waitFor();

/** Let the answers to some requests wait until the one that this returns is called. */
export async function holdBack(page, requests) {
  let release;
  const late = new Promise((done) => { release = done; });
  await page.route(requests, (route) => late.then(() => route.continue()));
  return async () => {
    release();
    await page.unrouteAll({ behavior: 'wait' });
  };
}

/** Wait until the form says that what is wanted is free. */
export const available = (page) => page.getByText('Available.', { exact: true }).waitFor();

/** Wait until the calendar says how many resources it has. */
export const counted = (page, words) => page.locator('.count').getByText(words, { exact: true }).waitFor();

/** Wait until something is announced to screen readers. */
export const spoken = (page, what) =>
  page.locator('[aria-live=polite]').getByText(what).waitFor({ state: 'attached' });

/** Have the page ask at once, as it does when a tab comes into view, instead of after a while. */
export const look = (page) => page.evaluate(
  () => document.dispatchEvent(new Event('visibilitychange')));

/** Do something that took place so many seconds ago, by the clock of the page. */
export async function ago(page, seconds, act) {
  await page.evaluate((late) => {
    const { now } = Date;
    Date.now = () => now() - late * 1000;
    globalThis.back = () => { Date.now = now; };
  }, seconds);
  await act();
  await page.evaluate(() => globalThis.back());
}

/** Wait until a condition holds, for a minute at most. */
export async function eventually(condition) {
  const deadline = performance.now() + 60000;
  while (!await condition()) {
    assert.ok(performance.now() < deadline, String(condition));
    await new Promise((done) => { setTimeout(done, 50); });
  }
}

/** Send a request to the API beside the page, without the page; as often as it is too busy. */
export async function ask(context, address, method, path, data) {
  let answer = null;
  await eventually(async () => {
    answer = await context.request.fetch(new URL(`../v1/${path}`, address).href, {
      method, data, headers: { 'OpenStack-API-Version': 'reservation 1.8' },
    });
    return answer.status() !== 429;
  });
  assert.ok(answer.ok(), `${method} ${path}: ${answer.status()} ${await answer.text()}`);
  return answer.status() === 204 ? null : answer.json();
}

/** Return functions that find and delete leases by name, without the page. */
export function leasesOf(context, address) {
  const all = async () => (await ask(context, address, 'GET', 'leases')).leases;
  const named = async (name) => (await all()).find((one) => one.name === name);
  /** Wait until leases are gone, which is a moment after they were deleted. */
  const gone = (...names) =>
    eventually(async () => !(await all()).some((one) => names.includes(one.name)));
  const remove = async (...names) => {
    for (const name of names) {
      await ask(context, address, 'DELETE', `leases/${(await named(name)).id}`);
    }
    await gone(...names);
  };
  return { named, gone, remove };
}

/** Return the body of a lease of hosts from now on. */
export const lease = (name, hours, hosts) => ({
  name, start_date: 'now',
  end_date: new Date(Date.now() + hours * 3600000).toISOString().slice(0, 16),
  reservations: [{ resource_type: 'physical:host', min: hosts, max: hosts }],
});
