// SPDX-License-Identifier: Apache-2.0

/** Steps with Keystone: sign in, a session that ends, sign out. */
import assert from 'node:assert/strict';
import { accessible, available, calendar, look, please } from './person.mjs';

/** Return the steps of a person at an address, in their order. */
export const sessions = (context, page, address) => {
  // In the header: lists have the names of projects too.
  const projectIn = (tab, name) => tab.getByTitle('Switch project').filter({ hasText: name });
  const project = (name) => projectIn(page, name);
  return {
    async 'sign in with a wrong password'() {
      // A link in a mail opens its lease once its reader has signed in.
      await page.goto(`${address}#lease/long-gone`);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await accessible(page, 'sign-in');
      await page.getByLabel('User name').fill('alice');
      await page.getByLabel('Password', { exact: true }).fill('mistyped');
      await page.getByLabel('Project', { exact: true }).fill('blue');
      await signIn(page);
      await page.getByText(/^That did not work/).waitFor();
      assert.equal(await page.getByLabel('User name').inputValue(), 'alice');
      assert.deepEqual(await context.cookies(), []);
    },
    async 'sign in'() {
      await page.getByLabel('Password', { exact: true }).fill(process.env.PASSWORD);
      await signIn(page);
      await calendar(page);
      await project('the blue').waitFor();
      await page.getByRole('complementary').getByRole('alert').waitFor();
      await page.getByRole('button', { name: 'Close' }).click();
      const [cookie] = await context.cookies();
      assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, 'Strict']);
      assert.equal(await page.evaluate(() => document.cookie), '');
      const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
      assert.ok(!kept.includes(cookie.value), kept);
    },
    async 'the session ends while one types'() {
      await page.getByRole('button', { name: 'Reserve', exact: true }).click();
      await page.getByLabel('Name', { exact: true }).fill('half-typed');
      await please('end the session');
      await look(page);
      await page.getByText('Your session has ended.').waitFor();
      // It says so until one signs in, and knows what was entered before.
      assert.equal(await page.locator('.login .note').innerText(), 'Your session has ended.');
      assert.equal(await page.getByLabel('User name').inputValue(), 'alice');
      assert.equal(await page.getByLabel('Project', { exact: true }).inputValue(), 'blue');
      await accessible(page, 'session over');
      await page.getByLabel('Password', { exact: true }).fill(process.env.PASSWORD);
      await signIn(page);
      await available(page);
      assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'half-typed');
      await page.getByRole('button', { name: 'Reserve 1 host', exact: true }).click();
      await page.getByRole('heading', { name: 'half-typed' }).waitFor();
      await page.keyboard.press('Escape');
    },
    async 'switch to another project'() {
      await project('the blue').click();
      await page.getByRole('button', { name: 'red' }).waitFor();
      await accessible(page, 'projects');
      // Another tab has the same cookie, and would reserve for the other project.
      const tab = await context.newPage();
      await tab.goto(address);
      await projectIn(tab, 'the blue').waitFor();
      await page.getByRole('button', { name: 'red' }).click();
      await project('the red').waitFor();
      await calendar(page);
      await projectIn(tab, 'the red').waitFor();
      await tab.close();
    },
    async 'sign in through Keystone'() {
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await page.goto(`${address}#/leases`);
      await page.getByRole('button', { name: 'Sign in with University' }).click();
      await project('the blue').waitFor();
      await page.getByRole('heading', { name: 'Leases' }).waitFor();
      assert.equal(new URL(page.url()).hash, '#/leases');
      assert.deepEqual((await context.cookies()).map((one) => one.name), ['climate_session']);
      await page.getByRole('link', { name: 'Calendar' }).click();
      await calendar(page);
    },
    async 'a sign-out that is refused'() {
      const refused = (route) => (route.request().method() === 'DELETE'
        ? route.fulfill({ status: 503, json: { error_message: 'Others are signing out' } })
        : route.fallback());
      await page.route('**/ui/session', refused);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('That did not work: Others are signing out').waitFor();
      await page.unroute('**/ui/session', refused);
      assert.equal((await context.cookies()).length, 1);
      await project('the blue').waitFor();
    },
    async 'sign out'() {
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('You are signed out.').waitFor();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      assert.deepEqual(await context.cookies(), []);
      await page.addInitScript(lateFrames);
      await page.reload();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    },
  };
};

/** Runs before the page: frames are late, as where much else runs, and answers come before. */
function lateFrames() {
  const { requestAnimationFrame: frame, setTimeout: timer } = globalThis;
  globalThis.requestAnimationFrame = (work) => timer(() => frame(work), 300);
  globalThis.setTimeout = (work, pause) => timer(work, Math.max(pause, 300));
}

const signIn = (page) => page.locator('.login button[type=submit]').click();
