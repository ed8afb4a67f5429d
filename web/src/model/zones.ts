// SPDX-License-Identifier: Apache-2.0

/** Wall clocks of time zones, by Intl alone. Instants are seconds since 1970. */

export interface Wall { year: number; month: number; day: number; hour: number; minute: number }

const QUARTER = 900;
const DAY = 86400;
const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, number>();

function format(zone: string): Intl.DateTimeFormat {
  let found = formats.get(zone);
  if (!found) {
    found = new Intl.DateTimeFormat('en-US', {
      timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric',
      hour: 'numeric', minute: 'numeric', second: 'numeric',
    });
    formats.set(zone, found);
  }
  return found;
}

/** Return by how many seconds a zone is ahead of UTC; clocks change at quarters of an hour only. */
export function offset(instant: number, zone: string): number {
  const quarter = Math.floor(instant / QUARTER);
  const key = `${zone} ${quarter}`;
  let found = offsets.get(key);
  if (found === undefined) {
    const part: Record<string, number> = {};
    for (const { type, value } of format(zone).formatToParts(quarter * QUARTER * 1000)) {
      part[type] = Number(value);
    }
    const local = Date.UTC(
      part.year!, part.month! - 1, part.day!, part.hour!, part.minute!, part.second!);
    found = local / 1000 - quarter * QUARTER;
    if (offsets.size > 20000) offsets.clear();
    offsets.set(key, found);
  }
  return found;
}

/** Return what the clock of a zone shows. */
export function wall(instant: number, zone: string): Wall {
  const local = new Date((instant + offset(instant, zone)) * 1000);
  return {
    year: local.getUTCFullYear(), month: local.getUTCMonth() + 1, day: local.getUTCDate(),
    hour: local.getUTCHours(), minute: local.getUTCMinutes(),
  };
}

/**
 * Return when a clock shows this; days and months may overflow. As RFC 5545, section 3.3.5, has
 * it: a time that is skipped is read with the offset before, of one that occurs twice the first
 * one is meant.
 */
export function instant(at: Wall, zone: string): number {
  const local = Date.UTC(at.year, at.month - 1, at.day, at.hour, at.minute) / 1000;
  const before = local - offset(local - DAY, zone);
  const after = local - offset(local + DAY, zone);
  if (before + offset(before, zone) === local) return before;
  return after + offset(after, zone) === local ? after : before;
}

/** Return the beginning of the day that has an instant. */
export function dayStart(at: number, zone: string, days = 0): number {
  const here = wall(at, zone);
  return instant({ ...here, day: here.day + days, hour: 0, minute: 0 }, zone);
}

/** Return the day of the week, 0 for Sunday. */
export function weekday(at: number, zone: string): number {
  return new Date((at + offset(at, zone)) * 1000).getUTCDay();
}

const pad = (number: number): string => String(number).padStart(2, '0');

/** Return the value of an input of the type datetime-local. */
export function toInput(at: number, zone: string): string {
  const here = wall(at, zone);
  return `${here.year}-${pad(here.month)}-${pad(here.day)}T${pad(here.hour)}:${pad(here.minute)}`;
}

/** Read such a value; NaN if it is none. */
export function fromInput(text: string, zone: string): number {
  const found = /^(\d{4,6})-(\d\d)-(\d\d)T(\d\d):(\d\d)/.exec(text);
  if (!found) return NaN;
  const [year, month, day, hour, minute] = found.slice(1).map(Number);
  return instant(
    { year: year!, month: month!, day: day!, hour: hour!, minute: minute! }, zone);
}
