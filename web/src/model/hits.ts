// SPDX-License-Identifier: Apache-2.0

/** What is at a place: a bar, or free time. */
import type { Chunk } from './columns.ts';

export interface Gap { start: number; end: number; open: boolean }

/** Return the number of the bar at a time and a height (thousandths of the row), or -1. */
export function barAt(chunk: Chunk, row: number, at: number, height: number, slack = 0): number {
  let near = -1;
  for (let bar = chunk.from[row]!; bar < chunk.from[row + 1]!; bar++) {
    if (chunk.begins[bar]! - slack > at) break;
    if (chunk.ends[bar]! + slack <= at) continue;
    const top = chunk.top[bar]!;
    if (height >= top && height < top + chunk.share[bar]!) return bar;
    near = bar;
  }
  // Thin bars are hard to point at: any bar at this time is better than none.
  return near;
}

/** Return the number of the maintenance of a row at a time, or -1. */
export function maintenanceAt(chunk: Chunk, row: number, at: number): number {
  const { resource, start, end } = chunk.maintenances;
  return resource.findIndex((one, n) => one === row && start[n]! <= at && at < end[n]!);
}

/** Return when a row is busy, merged and sorted. */
export function busy(chunk: Chunk, row: number): [number, number][] {
  const all: [number, number][] = [];
  for (let bar = chunk.from[row]!; bar < chunk.from[row + 1]!; bar++) {
    all.push([chunk.begins[bar]!, chunk.ends[bar]!]);
  }
  chunk.maintenances.resource.forEach((one, n) => {
    if (one === row) all.push([chunk.maintenances.start[n]!, chunk.maintenances.end[n]!]);
  });
  all.sort((one, other) => one[0] - other[0]);
  const merged: [number, number][] = [];
  for (const [start, end] of all) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

/** Return the free time around an instant, not before `now`; null if the row is busy then. */
export function gapAt(chunk: Chunk, row: number, at: number, now: number): Gap | null {
  if (at < now || chunk.disabled[row]) return null;
  let start = Math.max(now, chunk.start);
  for (const [from, to] of busy(chunk, row)) {
    if (from <= at && at < to) return null;
    if (from > at) return { start, end: from, open: false };
    start = Math.max(start, to);
  }
  return { start, end: chunk.end, open: true };
}

export type Stop =
  | { kind: 'bar'; bar: number; start: number; end: number }
  | { kind: 'gap'; start: number; end: number; open: boolean };

/** Return the bars and gaps of a row, one after the other, for the keyboard. */
export function stops(chunk: Chunk, row: number, now: number): Stop[] {
  const found: Stop[] = [];
  for (let bar = chunk.from[row]!; bar < chunk.from[row + 1]!; bar++) {
    found.push({ kind: 'bar', bar, start: chunk.begins[bar]!, end: chunk.ends[bar]! });
  }
  if (!chunk.disabled[row]) {
    let free = Math.max(now, chunk.start);
    for (const [from, to] of busy(chunk, row)) {
      if (from > free) found.push({ kind: 'gap', start: free, end: from, open: false });
      free = Math.max(free, to);
    }
    if (free < chunk.end) found.push({ kind: 'gap', start: free, end: chunk.end, open: true });
  }
  return found.sort((one, other) => one.start - other.start || one.end - other.end);
}

/** Return the free periods of a row from an instant on. */
export function gaps(chunk: Chunk, row: number, from: number): Gap[] {
  return stops(chunk, row, from).filter((stop) => stop.kind === 'gap' && stop.end > from)
    .map((stop) => ({ start: stop.start, end: stop.end, open: stop.kind === 'gap' && stop.open }));
}

/** Return which share of a period a row is busy. */
export function bookedShare(chunk: Chunk, row: number, start: number, end: number): number {
  const inside = busy(chunk, row).map(([from, to]) => Math.min(to, end) - Math.max(from, start));
  return inside.reduce((sum, length) => sum + Math.max(0, length), 0) / (end - start);
}

/** Return a dragged period: snapped, in order, and inside the free time where it began. */
export function clamp(from: number, to: number, snap: number, gap: Gap | null): [number, number] {
  let start = Math.floor(Math.min(from, to) / snap) * snap;
  let end = Math.ceil(Math.max(from, to) / snap) * snap;
  if (gap) {
    start = Math.max(start, Math.ceil(gap.start / 60) * 60);
    end = Math.min(end, gap.open ? Infinity : gap.end);
  }
  return [start, Math.max(end, start + 60)];
}
