// SPDX-License-Identifier: Apache-2.0

/** Whether the service would change a lease so, and what it would do instead. Nothing is kept. */
import { Refusal, call, get, iso, seconds } from '../data/api.ts';
import { present } from '../data/state.ts';
import type { Lease } from '../data/types.ts';
import { moment } from '../words/index.ts';
import { say } from '../words/lease/index.ts';
import { heldBy, namesOf, number } from './things.ts';

export interface Times { start: number; end: number }
export interface Verdict {
  kind: 'plain' | 'good' | 'bad'; title: string; details: string[]; instead: Times[];
}
interface DryRun { dry_run: { reservations: { resource_names?: string[] }[] } }
interface Offer { start_date: string; end_date: string; reason: string }
interface Blocker {
  resource_type: string; resource_class: string | null; missing: number; until: string | null;
}
interface Extension { end_date: string; blocked_by: Blocker[]; searched_until: string }

export const CHECKING: Verdict = { kind: 'plain', title: '', details: [], instead: [] };
/** Reasons of alternatives that new times alone are. */
const TIMES = new Set(['later', 'earlier', 'longest']);
/** Seconds ahead that the service searches at most. */
const FARTHEST = 399 * 86400;

export const pathOf = (lease: Lease): string => `leases/${encodeURIComponent(lease.id)}`;
export const timesOf = (lease: Lease): Times => ({ start: seconds(lease.start_date), end: seconds(lease.end_date) });

/** Return the change that gives a lease other times, which are on full minutes unless kept. */
export function retimed(lease: Lease, { start, end }: Times): Record<string, string> {
  const now = timesOf(lease);
  return {
    ...(start === now.start ? {} : { start_date: iso(start) }),
    ...(end === now.end ? {} : { end_date: iso(end) }),
  };
}

/** Ask the service about a change. */
export async function checkChange(lease: Lease, change: object, signal: AbortSignal): Promise<Verdict> {
  try {
    const { body } = await call<DryRun>('PUT', pathOf(lease), { ...change, dry_run: true }, { signal });
    return { kind: 'good', title: say('possible'), details: moves(lease, body), instead: [] };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 401 || error.status >= 500) throw error;
    const alternatives: Offer[] = error.body?.alternatives ?? [];
    const instead = alternatives.filter(({ reason }) => TIMES.has(reason))
      .map((one) => ({ start: seconds(one.start_date), end: seconds(one.end_date) }));
    return { kind: 'bad', title: say('impossible'), details: why(error), instead };
  }
}

/** Ask about other times; if they do not fit, also how late the lease can end. */
export async function checkTimes(lease: Lease, times: Times, signal: AbortSignal): Promise<Verdict> {
  const verdict = await checkChange(lease, retimed(lease, times), signal);
  const now = timesOf(lease);
  if (verdict.kind !== 'bad' || times.start !== now.start || times.end <= now.end) return verdict;
  const latest = iso(Math.min(times.end, present() + FARTHEST));
  const found = await get<{ extension: Extension }>(`${pathOf(lease)}/extension`, { latest })
    .then(({ extension }) => extension, () => null);
  // Without anything in the way there is no limit, and the refusal has another reason.
  if (!found?.blocked_by.length) return verdict;
  const end = seconds(found.end_date);
  const instead = end > now.end && !verdict.instead.some((one) => one.end === end)
    ? [...verdict.instead, { start: now.start, end }] : verdict.instead;
  const most = end > now.end ? [say('atMostUntil', { end: moment(end) })] : [];
  return { ...verdict, details: [...most, ...found.blocked_by.map(inTheWay)], instead };
}

function inTheWay({ resource_type, resource_class, missing, until }: Blocker): string {
  const what = resource_class ? `${missing} ${resource_class}` : number(resource_type, missing);
  return until ? say('blocked', { what, until: moment(seconds(until)) }) : say('blockedOpen', { what });
}

/** Say on which other resources the lease would be. */
function moves(lease: Lease, { dry_run }: DryRun): string[] {
  const before = heldBy(lease).map((one) => one.name);
  const after = dry_run.reservations.flatMap((one) => one.resource_names ?? []);
  const [gone, came] = [before.filter((one) => !after.includes(one)), after.filter((one) => !before.includes(one))];
  if (before.length === 0 || after.length === 0 || !gone.length || !came.length) return [];
  const named = (names: string[]): string => namesOf(names.map((name) => ({ id: name, name })));
  return [say('others', { names: named(came), before: named(gone) })];
}

interface Reason { matched?: number; free?: number }

function why(error: Refusal): string[] {
  if (error.body?.error_name !== 'NOT_ENOUGH_RESOURCES') return [error.message];
  const reasons: Reason[] = error.body?.reasons ?? [];
  const figures = reasons.filter(({ matched }) => matched)
    .map(({ matched = 0, free = 0 }) => say('fewFree', { free, matched }));
  return figures.length ? figures : [error.message];
}
