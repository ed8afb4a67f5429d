// SPDX-License-Identifier: Apache-2.0

/**
 * People in a real Chromium: node browser.mjs ADDRESS KEYSTONE_ADDRESS, of a service without
 * authentication and of one with Keystone. Fails at any error of the page.
 */
import assert from 'node:assert/strict';
import { addresses } from './addresses.mjs';
import { booking, phone } from './booking.mjs';
import { startChromium, watch } from './browsers.mjs';
import { changes } from './changes.mjs';
import { features } from './features.mjs';
import { phones } from './phones.mjs';
import { sessions } from './sessions.mjs';

const [open, guarded] = process.argv.slice(2);
/** Milliseconds that a step waits, on a machine that does much else. */
const PATIENCE = 60000;
const WIDE = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** In this order: features are first, while nothing has been booked, since bars stay. */
const PLAYS = [
  ['features', features, WIDE, open], ['booking', booking, WIDE, open],
  ['changes', changes, WIDE, open], ['phone', phone, PHONE, open], ['phones', phones, PHONE, open], ['addresses', addresses, WIDE, open],
  ['sessions', sessions, WIDE, guarded],
];
/** Names of those that are wanted, with spaces between; all if there are none. */
const wanted = process.env.CLIMATE_WEB_STEPS;

/** A zone in which most of the day is past: what is free is known from the present on. */
function evening() {
  const east = ((20 - new Date().getUTCHours() + 36) % 24) - 12;
  return `Etc/GMT${east > 0 ? '-' : '+'}${Math.abs(east)}`;
}

/** What all tabs show, for the log of a failure. */
async function shown(context) {
  const texts = context.pages().map((page) => page.locator('main').innerText().catch(String));
  return (await Promise.all(texts)).join('\n--\n');
}

const browser = await startChromium();

/** Take the steps of one person, with a profile of its own. */
async function play(steps, screen, address) {
  const context = await browser.newContext({
    ...screen, timezoneId: evening(), locale: 'en-GB', reducedMotion: 'reduce',
  });
  const errors = [];
  context.on('page', (page) => {
    page.setDefaultTimeout(PATIENCE);
    watch(page, errors);
  });
  const page = await context.newPage();
  for (const [name, step] of Object.entries(steps(context, page, address))) {
    const began = performance.now();
    try {
      await step();
    } catch (error) {
      process.stdout.write(`FAILED ${name}, where tabs show:\n${await shown(context)}\n`);
      throw error;
    }
    process.stdout.write(`ok ${name} ${Math.round(performance.now() - began)} ms\n`);
  }
  assert.deepEqual(errors, []);
  await context.close();
}

try {
  for (const [name, ...how] of PLAYS) {
    if (!wanted || wanted.split(' ').includes(name)) await play(...how);
  }
  process.stdout.write('ok all\n');
} finally {
  await browser.close();
  process.stdin.destroy();
}
