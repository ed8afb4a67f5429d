// SPDX-License-Identifier: Apache-2.0

/** The periods in which a lease may lie: days, and hours of each day. */
import { instant, wall } from './zones.ts';

/** Days such as "2030-01-31"; times such as "08:00", or empty for any hour. */
export interface Between { first: string; last: string; opens: string; closes: string }
export interface Window { start: number; end: number }

/** Days with hours that can be searched at most: each is a request. */
export const MOST_DAYS = 31;
const DAY = 86400;

/** Return the day of an instant, as an input of the type date has it. */
export function dayOf(at: number, zone: string): string {
  const { year, month, day } = wall(at, zone);
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** Return the periods, in their order: one of all days, or one of each if hours matter. */
export function windows({ first, last, opens, closes }: Between, zone: string): Window[] {
  const [from, to] = [first, last].map((text) => Date.parse(`${text}T00:00:00Z`) / 1000 / DAY);
  if (!(from! <= to!)) return [];
  const at = (day: number, time: string): number => {
    const date = new Date(day * DAY * 1000);
    const [hour, minute] = time.split(':').map(Number);
    return instant({
      year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(), hour: hour!, minute: minute!,
    }, zone);
  };
  if (!opens && !closes) return [{ start: at(from!, '00:00'), end: at(to! + 1, '00:00') }];
  const begin = opens || '00:00';
  const end = closes || '00:00';
  // Until a time that is not later is until the next day.
  const nights = end <= begin ? 1 : 0;
  const days = Math.min(to! - from! + 1, MOST_DAYS);
  return Array.from({ length: days }, (_, number) => (
    { start: at(from! + number, begin), end: at(from! + number + nights, end) }));
}
