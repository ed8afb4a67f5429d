// Licensed under the Apache License, Version 2.0 (the "License"); you may
// not use this file except in compliance with the License. You may obtain
// a copy of the License at
//
//      http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
// WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
// License for the specific language governing permissions and limitations

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
