// SPDX-License-Identifier: Apache-2.0

/**
 * Links of mails and calendars in a real Chromium: node links.mjs NAME LINK... Fails unless each
 * shows the lease of this name.
 */
import { startChromium } from './browsers.mjs';

const [name, ...links] = process.argv.slice(2);
const browser = await startChromium();
try {
  for (const link of links) {
    // A page of its own: the address of one page would only change after the sign #.
    const page = await browser.newPage();
    await page.goto(link);
    await page.getByRole('complementary', { name }).waitFor({ timeout: 120000 });
    process.stdout.write(`ok ${link}\n`);
  }
} finally {
  await browser.close();
}
