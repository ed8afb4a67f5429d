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
// under the License.

/** How a person books by dragging, picture by picture. */

/**
 * Take the pictures calendar-book-1.png and so on. `drag` drags over rows and hours, and calls
 * back before it lets go; `take` writes a picture of the page.
 */
export async function book(page, drag, take) {
  let number = 0;
  const picture = () => take(`calendar-book-${++number}.png`, 960, 600, 0, 50);
  await page.setViewportSize({ width: 960, height: 600 });
  // Two hosts that are taken in a part of the time.
  await drag([3, 4], 48.5, 59.5, picture);
  await page.getByLabel('Name', { exact: true }).fill('forecast');
  await page.getByText('Not available.').waitFor();
  const offer = page.locator('.offers button').first();
  await offer.hover();
  await picture();
  await offer.click();
  await page.getByText('forecast is reserved.').waitFor();
  await page.getByText('until it starts').waitFor();
  await page.mouse.move(0, 0);
  await picture();
  await page.getByRole('button', { name: 'Times…' }).click();
  await page.getByRole('button', { name: '+7 d' }).click();
  await page.getByText(/Other leases have/).waitFor();
  await page.locator('.notice.shown').waitFor({ state: 'detached' });
  await picture();
  await page.keyboard.press('Escape');
}
