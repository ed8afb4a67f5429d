// SPDX-License-Identifier: Apache-2.0

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
