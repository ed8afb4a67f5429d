// SPDX-License-Identifier: Apache-2.0

/**
 * Measures the page: node figures.mjs chromium|firefox ADDRESS FRAMES. Prints JSON:
 * milliseconds to the first bars, between frames, and of scripts in each; bytes. The frames
 * of an empty page show how much of it is the browser's.
 */
import assert from 'node:assert/strict';
import { startChromium, startFirefox, watch } from './browsers.mjs';

const [name, address, frames] = process.argv.slice(2);
const SIZE = { width: 1440, height: 900 };
const DENSITIES = ['comfortable', 'overview'];
const GESTURES = ['pan', 'zoom', 'scroll'];

/** Runs before the page: times what it does in frames, and when it draws bars. */
function meter() {
  const found = { script: 0, bars: 0 };
  globalThis.meter = found;
  const { requestAnimationFrame: real } = globalThis;
  const shape = CanvasRenderingContext2D.prototype;
  const { roundRect } = shape;
  let drawn = 0;
  shape.roundRect = function count(...all) {
    drawn += 1;
    return roundRect.apply(this, all);
  };
  globalThis.requestAnimationFrame = (work) => real((at) => {
    const began = performance.now();
    drawn = 0;
    work(at);
    found.script += performance.now() - began;
    // Without bars, it draws the label of the present only.
    if (found.bars || drawn < 20) return;
    shape.roundRect = roundRect;
    // In the next frame, they can be seen.
    real(() => { found.bars = performance.now(); });
  });
}

/** Runs in the page: makes one step of a gesture in each frame, there and back. */
function move({ gesture, frames: count }) {
  const grid = document.querySelector('.grid');
  const box = grid.getBoundingClientRect();
  const wheel = (options) => grid.dispatchEvent(new WheelEvent('wheel', {
    bubbles: true, cancelable: true, clientX: box.left + box.width / 2,
    clientY: box.top + box.height / 2, ...options,
  }));
  const steps = {
    pan: (way) => wheel({ shiftKey: true, deltaX: way * 16 }),
    zoom: (way) => wheel({ ctrlKey: true, deltaY: way * -9 }),
    scroll: (way) => { grid.scrollTop += way * 60; },
  };
  return new Promise((done) => {
    const times = [];
    const scripts = [];
    let before = 0;
    let spent = globalThis.meter.script;
    const frame = (at) => {
      if (before) {
        times.push(at - before);
        scripts.push(globalThis.meter.script - spent);
      }
      before = at;
      spent = globalThis.meter.script;
      if (times.length >= count) return done({ times, scripts });
      steps[gesture](times.length < count / 2 ? 1 : -1);
      return requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}

/** Runs in an empty page: the times between frames in which nothing is done. */
const idle = (count) => new Promise((done) => {
  const times = [];
  let before = 0;
  const frame = (at) => {
    if (before) times.push(at - before);
    before = at;
    return times.length >= count ? done(times) : requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
});

/** Runs in the page: the compressed bytes of the files that it asked for before its first bars. */
const bytes = () => [
  ...performance.getEntriesByType('navigation'),
  ...performance.getEntriesByType('resource').filter((one) => one.name.includes('/ui/')
    && !one.name.endsWith('/session') && one.startTime < globalThis.meter.bars),
].reduce((sum, one) => sum + one.encodedBodySize, 0);

/** Bytes of scripts' objects and of typed arrays, once garbage is collected. */
async function heap(page) {
  const debug = await page.context().newCDPSession(page);
  await debug.send('HeapProfiler.collectGarbage');
  const { usedSize, backingStorageSize = 0 } = await debug.send('Runtime.getHeapUsage');
  return usedSize + backingStorageSize;
}

async function open(browser) {
  if (name === 'chromium') {
    const page = await browser.newPage({ viewport: SIZE });
    await page.addInitScript(meter);
    return page;
  }
  const page = await browser.newPage();
  await page.setViewport(SIZE);
  await page.evaluateOnNewDocument(meter);
  return page;
}

async function settled(page) {
  await page.waitForFunction(() => /[0-9]/.test(document.querySelector('.count')?.textContent));
  await new Promise((done) => { setTimeout(done, 700); });
}

const browser = await (name === 'chromium' ? startChromium() : startFirefox());
try {
  const page = await open(browser);
  const errors = watch(page);
  const empty = await page.evaluate(idle, Number(frames));
  await page.goto(address);
  await page.waitForFunction(() => globalThis.meter.bars > 0);
  const found = { empty, bars: await page.evaluate(() => globalThis.meter.bars), gestures: {} };
  await settled(page);
  found.bytes = await page.evaluate(bytes);
  for (const density of DENSITIES) {
    await page.evaluate((value) => localStorage.setItem('climate.density', value), density);
    await page.reload();
    await settled(page);
    for (const gesture of GESTURES) {
      found.gestures[`${gesture}, ${density}`] = await page.evaluate(
        move, { gesture, frames: Number(frames) });
      await settled(page);
    }
  }
  if (name === 'chromium') found.heap = await heap(page);
  assert.deepEqual(errors, []);
  process.stdout.write(`${JSON.stringify(found)}\n`);
} finally {
  await browser.close();
}
