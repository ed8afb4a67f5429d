// SPDX-License-Identifier: Apache-2.0

/** The browsers that the tests and the benchmark drive. */
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';

const CHROMIUM = process.env.CLIMATE_CHROMIUM ?? '/usr/bin/chromium';
const FIREFOX = process.env.CLIMATE_FIREFOX ?? '/usr/bin/firefox-esr';
/** Without the first, Firefox rounds times to whole milliseconds. */
const PREFERENCES = { 'privacy.reduceTimerPrecision': false, 'intl.accept_languages': 'en' };

/** Start Chromium, with Playwright. */
export const startChromium = () => chromium.launch({
  executablePath: CHROMIUM, args: ['--no-sandbox'],
});

/** Start Firefox, over WebDriver BiDi: Playwright drives only a Firefox of its own. */
export const startFirefox = () => puppeteer.launch({
  browser: 'firefox', executablePath: FIREFOX, headless: true, extraPrefsFirefox: PREFERENCES,
});

/** Collect what a page reports as an error: exceptions, and what its policy forbids. */
export function watch(page, errors = []) {
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (/Content[ -]Security[ -]Policy|Trusted/i.test(message.text())) errors.push(message.text());
  });
  return errors;
}
