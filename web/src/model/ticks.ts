// SPDX-License-Identifier: Apache-2.0

/** Where the axis of time has lines and words. */
import { dayStart, instant, wall, weekday } from './zones.ts';

export type Unit = 'minute' | 'hour' | 'day' | 'month';
export interface Tick { at: number; unit: Unit; strong: boolean }

const HOUR = 3600;
const DAY = 86400;
/** Seconds between small ticks, from fine to coarse; the last ones are whole days. */
const STEPS = [300, 900, 1800, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
  DAY, 2 * DAY, 7 * DAY] as const;

/** Return how far apart small ticks are, in seconds, if each needs so many pixels. */
export function stepFor(span: number, width: number, pixels: number): number {
  const least = (span / Math.max(width, 1)) * pixels;
  return STEPS.find((step) => step >= least) ?? 30 * DAY;
}

/** Return the small ticks of a period on the wall clock of a zone, right across changes of it. */
export function ticks(start: number, end: number, step: number, zone: string): Tick[] {
  if (step >= 28 * DAY) return months(start, end, zone);
  if (step >= DAY) return days(start, end, step / DAY, zone);
  const found: Tick[] = [];
  for (let day = dayStart(start, zone); day < end; day = dayStart(day, zone, 1)) {
    const here = wall(day, zone);
    for (let second = 0; second < DAY; second += step) {
      const minute = second / 60;
      const at = instant({ ...here, hour: Math.floor(minute / 60), minute: minute % 60 }, zone);
      const strong = second === 0;
      const last = found.at(-1);
      if (at < start - step || at > end || (last && at <= last.at)) continue;
      found.push({ at, unit: strong ? 'day' : step < HOUR ? 'minute' : 'hour', strong });
    }
  }
  return found;
}

function days(start: number, end: number, every: number, zone: string): Tick[] {
  const found: Tick[] = [];
  for (let day = dayStart(start, zone); day < end; day = dayStart(day, zone, 1)) {
    const monday = weekday(day, zone) === 1;
    const month = wall(day, zone).day === 1;
    // Every second day is counted from 1970, so that ticks stay where they are in a pan.
    const number = Math.round((day + 43200) / DAY);
    if (every === 7 ? monday : number % every === 0) {
      found.push({ at: day, unit: 'day', strong: monday || month });
    }
  }
  return found;
}

/** Return the beginnings of months. */
export function months(start: number, end: number, zone: string): Tick[] {
  const found: Tick[] = [];
  const first = wall(start, zone);
  for (let month = first.month; ; month++) {
    const at = instant({ year: first.year, month, day: 1, hour: 0, minute: 0 }, zone);
    if (at >= end) return found;
    found.push({ at, unit: 'month', strong: true });
  }
}

/** Return the beginnings of all days. */
export function allDays(start: number, end: number, zone: string): Tick[] {
  return days(start, end, 1, zone);
}

/** Return the first of some texts, from long to short, that fits; the last one if none does. */
export function longest(texts: string[], room: number, width: (text: string) => number): string {
  return texts.find((text) => width(text) <= room) ?? texts.at(-1) ?? '';
}
