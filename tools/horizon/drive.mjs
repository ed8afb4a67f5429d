// SPDX-License-Identifier: Apache-2.0

/**
 * Uses the panels of blazar-dashboard as people do, and takes pictures:
 * node drive.mjs ADDRESS FOLDER PASSWORD, in the folder web.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { chromium } = createRequire(`${process.cwd()}/`)('playwright-core');
const [address, folder, password] = process.argv.slice(2);
// The first page compiles the style sheets, which takes a minute.
const PATIENCE = 120000;
const HOUR = 3600000;
let failures = 0;

const minute = (at) => new Date(at).toISOString().slice(0, 16).replace('T', ' ');
const tidy = (text) => text.replace(/\s+/g, ' ').trim();

const browser = await chromium.launch({
  executablePath: process.env.CLIMATE_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});

async function login(user) {
  const context = await browser.newContext({ viewport: { width: 1000, height: 520 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.on('response', (r) => r.status() >= 500 && console.log(`HTTP ${r.status()} ${r.url()}`));
  page.on('pageerror', (error) => console.log(`script: ${tidy(String(error)).slice(0, 200)}`));
  await page.goto(`${address}/auth/login/?next=/project/leases/`, { waitUntil: 'domcontentloaded' });
  await page.fill('#id_username', user);
  await page.fill('#id_password', password);
  await page.press('#id_password', 'Enter');
  await page.waitForURL('**/project/leases/**');
  return page;
}

/** Does a step, and tells of it; the others are done even if it fails. */
async function step(name, action) {
  try {
    console.log(`${name}: ${(await action()) ?? 'ok'}`);
  } catch (error) {
    failures += 1;
    console.log(`${name}: FAILED ${tidy(String(error)).slice(0, 300)}`);
  }
}

const body = async (page) => tidy(await page.textContent('#content_body'));
const picture = (page, name) => page.screenshot({ path: join(folder, `horizon-${name}.png`) });

async function create(page, fields, kind) {
  await page.goto(`${address}/project/leases/create/`, { waitUntil: 'domcontentloaded' });
  await page.selectOption('select[name=resource_type]', kind, { force: true });
  for (const [name, value] of Object.entries(fields)) {
    await page.fill(`[name=${name}]`, value, { force: true });
  }
  if (kind === 'host') await picture(page, 'create');
  await page.locator('form input[type=submit]').last().click();
  await page.waitForURL(/\/project\/leases\/$/);
  const rows = await page.locator('#content_body tbody tr').allTextContents();
  const row = rows.map(tidy).find((each) => each.includes(fields.name));
  if (!row) throw new Error(`no lease: ${tidy(await page.textContent('body')).slice(0, 200)}`);
  return row;
}

const page = await login('alice');
const start = minute(Date.now() + HOUR);
const end = minute(Date.now() + 7 * HOUR);
await step('create a lease of hosts', () => create(
  page, { name: 'demo', start_date: start, end_date: end, min_hosts: '1', max_hosts: '2' }, 'host',
));
await step('create a lease of instances', () => create(page, {
  name: 'rooms', start_date: start, end_date: end, amount: '1', vcpus: '1', memory_mb: '64',
  disk_gb: '1',
}, 'instance'));
await step('list', async () => {
  await picture(page, 'leases');
  return tidy(await page.locator('#content_body tbody').first().textContent());
});
await step('show', async () => {
  await page.getByRole('link', { name: 'demo', exact: true }).click();
  await page.waitForLoadState('domcontentloaded');
  return (await body(page)).slice(0, 700);
});
await step('calendar', async () => {
  await page.goto(`${address}/project/leases/calendar/host/`, { waitUntil: 'networkidle' });
  await page.waitForTimeout(3000);
  await picture(page, 'calendar');
  return (await body(page)).slice(0, 300);
});
await step('actions of a lease', async () => {
  await page.goto(`${address}/project/leases/`, { waitUntil: 'domcontentloaded' });
  const row = page.locator('#content_body tbody tr', { hasText: 'demo' });
  return tidy((await row.locator('td').last().textContent()) ?? '');
});
await step('delete', async () => {
  const row = page.locator('#content_body tbody tr', { hasText: 'rooms' });
  await row.getByRole('button', { name: 'Delete Lease' }).click();
  await page.locator('.modal-footer .btn').last().click();
  await page.waitForFunction(
    () => !document.querySelector('#content_body tbody')?.textContent?.includes('rooms'),
  );
  return tidy(await page.locator('#content_body tbody').first().textContent());
});

const admin = await login('admin');
await step('hosts', async () => {
  await admin.goto(`${address}/admin/hosts/`, { waitUntil: 'domcontentloaded' });
  await admin.waitForTimeout(1000);
  await picture(admin, 'hosts');
  return tidy(await admin.locator('#content_body tbody').first().textContent());
});
await step('show a host', async () => {
  await admin.locator('#content_body tbody a').first().click();
  await admin.waitForLoadState('domcontentloaded');
  return (await body(admin)).slice(0, 500);
});
await browser.close();
process.exitCode = failures ? 1 : 0;
