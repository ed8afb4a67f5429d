// SPDX-License-Identifier: Apache-2.0

/** The model without a browser: pages, free time, clocks that change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import './form.test.ts';
import './leases.test.ts';
import './parts.test.ts';
import { parse, tops } from '../src/model/columns.ts';
import type { CalendarAnswer } from '../src/model/columns.ts';
import { barAt, clamp, gapAt, stops } from '../src/model/hits.ts';
import { longest, stepFor, ticks } from '../src/model/ticks.ts';
import { Viewport } from '../src/model/viewport.ts';
import { fromInput, instant, toInput, wall } from '../src/model/zones.ts';

const BERLIN = 'Europe/Berlin';
const answer = (): CalendarAnswer => ({
  resource_type: 'physical:host', start: 0, end: 10000, generation: 'g', total: 3, group_by: null,
  resources: { id: [1, 2, 3], name: ['a', 'b', 'c'], disabled: [0, 0, 1], failed: [0, 0, 0], capacity: [0, 0, 0] },
  capacities: [{}], main: [null],
  allocations: {
    resource: [0, 0, 1, 1], start: [1000, 5000, 0, 500], end: [2000, 6000, 3000, 2500],
    amount: [1, 1, 4, 4], share: [1000, 1000, 500, 250], lease: [0, -1, -1, -1],
  },
  leases: { id: ['l'], name: ['mine'], status: ['ACTIVE'], mine: [1], firm_at: [null] },
  maintenances: { resource: [0], start: [7000], end: [8000] },
});

test('a page has its bars by row', () => {
  const chunk = parse(answer(), 100);
  assert.deepEqual([...chunk.from], [0, 2, 4, 4]);
  assert.equal(chunk.first, 100);
});

test('bars that overlap are stacked by share', () => {
  assert.deepEqual([...parse(answer(), 0).top], [0, 0, 0, 500]);
  const three = tops(
    Uint32Array.of(0, 3), Uint32Array.of(0, 0, 5), Uint32Array.of(4, 9, 9), Uint16Array.of(300, 300, 200));
  assert.deepEqual([...three], [0, 300, 0]);
});

test('a bar is found by time and height, a gap only from now on', () => {
  const chunk = parse(answer(), 0);
  assert.equal(barAt(chunk, 0, 1500, 500), 0);
  assert.equal(barAt(chunk, 0, 2000, 500), -1);
  assert.equal(barAt(chunk, 1, 1000, 600), 3);
  assert.deepEqual(gapAt(chunk, 0, 3000, 100), { start: 2000, end: 5000, open: false });
  assert.deepEqual(gapAt(chunk, 0, 9000, 100), { start: 8000, end: 10000, open: true });
  assert.equal(gapAt(chunk, 0, 7500, 100), null);
  assert.equal(gapAt(chunk, 0, 3000, 4000), null);
  assert.equal(gapAt(chunk, 2, 3000, 100), null);
});

test('the keyboard meets bars and gaps in turn', () => {
  const found = stops(parse(answer(), 0), 0, 1500).map((stop) => [stop.kind, stop.start]);
  assert.deepEqual(found, [['bar', 1000], ['gap', 2000], ['bar', 5000], ['gap', 6000], ['gap', 8000]]);
});

test('a coarse drag stays in the gap', () => {
  assert.deepEqual(clamp(2100, 4900, 3600, { start: 2040, end: 5000, open: false }), [2040, 5000]);
  assert.deepEqual(clamp(4000, 100, 900, null), [0, 4500]);
});

test('clocks that change have right ticks', () => {
  const start = instant({ year: 2026, month: 3, day: 29, hour: 0, minute: 0 }, BERLIN);
  const end = instant({ year: 2026, month: 3, day: 30, hour: 0, minute: 0 }, BERLIN);
  assert.equal(end - start, 23 * 3600);
  const hours = ticks(start, end, 3600, BERLIN).map((tick) => wall(tick.at, BERLIN).hour);
  assert.deepEqual(hours.slice(0, 4), [0, 1, 3, 4]);
  const autumn = instant({ year: 2026, month: 10, day: 25, hour: 0, minute: 0 }, BERLIN);
  const after = instant({ year: 2026, month: 10, day: 26, hour: 0, minute: 0 }, BERLIN);
  assert.equal(after - autumn, 25 * 3600);
  assert.ok(ticks(autumn, after, 86400, BERLIN).some((tick) => tick.at === autumn));
});

test('times that clocks skip or repeat', () => {
  for (const [zone, month, day, hour, minute, expected] of [
    ['America/New_York', 3, 14, 2, 30, '2027-03-14T07:30Z'],
    ['America/New_York', 11, 7, 1, 30, '2027-11-07T05:30Z'],
    ['Europe/Berlin', 3, 28, 2, 30, '2027-03-28T01:30Z'],
    ['Europe/Berlin', 10, 31, 2, 30, '2027-10-31T00:30Z'],
    ['Australia/Lord_Howe', 10, 3, 2, 15, '2027-10-02T15:45Z'],
  ] as const) {
    const found = instant({ year: 2027, month, day, hour, minute }, zone);
    assert.equal(found, Date.parse(expected) / 1000, `${zone} ${month}-${day}`);
  }
});

test('inputs are read on the clock of the zone', () => {
  for (const zone of ['UTC', BERLIN, 'Asia/Kathmandu', 'America/St_Johns']) {
    assert.equal(fromInput(toInput(1795480800, zone), zone), 1795480800);
  }
  assert.ok(Number.isNaN(fromInput('soon', 'UTC')));
});

test('a zoom keeps the time under the pointer', () => {
  const view = new Viewport(1000);
  view.width = 500;
  const before = view.time(200);
  view.zoom(0.5, 200);
  assert.ok(Math.abs(view.time(200) - before) < 1e-6);
  assert.equal(stepFor(86400, 1000, 64), 7200);
});

test('labels of days leave room for the next one', () => {
  const texts = ['Tue 24 Nov', 'Tue 24', '24'];
  const found = [80, 10, 9, 6, 5, 1].map((room) => longest(texts, room, (text) => text.length));
  assert.deepEqual(found, ['Tue 24 Nov', 'Tue 24 Nov', 'Tue 24', 'Tue 24', '24', '24']);
});
