// SPDX-License-Identifier: Apache-2.0

/** Whether a request can be fulfilled, and what is possible instead. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal, call, iso, seconds } from '../data/api.ts';
import { explain, trouble } from '../data/live.ts';
import { present, state } from '../data/state.ts';
import type { Answer } from '../data/api.ts';
import type { Alternative, Availability, Offer, Reason } from '../data/types.ts';
import { MOST_TERMS, instead, requirement, size } from '../model/requirement.ts';
import type { Expression } from '../model/requirement.ts';
import { say, things } from '../words/form/index.ts';
import { duration, either, moment, period } from '../words/index.ts';
import { bodyOf, dates, faults, inputsOf, labelOf, populationOf, typeOf } from './parts.ts';
import type { Part, LeaseRequest } from './parts.ts';

/** Something that can be had in place of what was wished for. */
export interface Option { text: string; detail: string; request: LeaseRequest }
export interface Verdict {
  kind: 'good' | 'bad' | 'plain'; title: string; detail: string; options: Option[]; offers: Offer[] | null;
}
const PAUSE = 200;
/** How often what was refused is asked for again. */
const AGAIN = 5000;
const OFFERS = 3;
const CHECKING: Verdict = { kind: 'plain', title: '', detail: '', options: [], offers: null };
const refused = (detail: string): Verdict => ({ ...CHECKING, kind: 'bad', detail });

/** Return a request without the names of its resources. */
function widened(request: LeaseRequest): LeaseRequest {
  const any = (part: Part): Part =>
    ({ ...part, conditions: part.conditions.filter(({ kind }) => kind !== 'names') });
  return { ...request, parts: request.parts.map(any) };
}

const isNamed = (request: LeaseRequest): boolean =>
  request.parts.some((part) => part.conditions.some(({ kind }) => kind === 'names'));

/** Return the reservations of a request in words, such as "2 hosts, 1 network". */
export const inWords = (request: LeaseRequest): string =>
  request.parts.map((part) => things(typeOf(part.type), part.amount)).join(', ');

interface DryRun { dry_run: { lease: { start_date: string; end_date: string; status: string } } }
const rehearse = (request: LeaseRequest, signal: AbortSignal): Promise<Answer<DryRun>> => call('POST', 'leases', {
  name: 'x', ...dates(request), reservations: request.parts.map(bodyOf), dry_run: true,
}, { signal });

/** Ask when a lease begins that begins as soon as there is room. */
async function checkSoon(request: LeaseRequest, signal: AbortSignal): Promise<Verdict> {
  try {
    const { lease } = (await rehearse(request, signal)).body.dry_run;
    if (lease.status === 'WAITING') return { ...CHECKING, kind: 'good', title: say('noRoomYet'), detail: say('willWait') };
    const detail = say('soonAt', { period: period(seconds(lease.start_date), seconds(lease.end_date)) });
    return { ...CHECKING, kind: 'good', title: say('canHave'), detail };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.body?.error_name !== 'NOT_ENOUGH_RESOURCES') return refused(plainly(error, request));
    const detail = request.soon?.latest ? say('noRoomBy', { end: moment(request.soon.latest) }) : error.message;
    return { ...refused(detail), title: say('notEnough') };
  }
}

/** Ask whether it fits, and if not, what does. */
async function check(request: LeaseRequest, signal: AbortSignal): Promise<Verdict> {
  if (request.soon) return checkSoon(request, signal);
  try {
    const [figures] = await Promise.all([
      Promise.all(request.parts.map((part) => figure(part, request, signal))), rehearse(request, signal),
    ]);
    return { ...CHECKING, kind: 'good', title: say('canHave'), detail: figures.filter(Boolean).join(' ') };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.body?.error_name !== 'NOT_ENOUGH_RESOURCES') return refused(plainly(error, request));
    const [options, offers] = await Promise.all([
      optionsOf(request, error.body.alternatives ?? [], signal),
      ask(widened(request), {}, signal).catch((other: unknown) => {
        if (other instanceof Refusal) return [];
        throw other;
      }),
    ]);
    const detail = ((error.body.reasons ?? []) as Reason[]).map((one) => reasonOf(one, request)).join(' ');
    return { kind: 'bad', title: say('notEnough'), detail: detail || error.message, options, offers };
  }
}

/** Return why one type is not available, in words. */
function reasonOf(reason: Reason, request: LeaseRequest): string {
  const { matched, free, first_blocker_ends: ends } = reason;
  if (reason.detail) return `${reason.detail}.`;
  if (!matched) return say('noMatch');
  const type = typeOf(reason.resource_type);
  const named = things(type, matched);
  const wanted = Math.max(0, ...request.parts.filter((part) => part.type === type.name).map((part) => part.amount));
  if (matched < wanted && free === matched) return say('onlyMatch', { things: named, n: matched });
  const figures = say('figure', { free: free ?? 0, things: named, d: duration(request.end - request.start) });
  return ends ? `${figures} ${say('until', { end: moment(seconds(ends)) })}` : figures;
}

/** Return the fault of a request in the words of the form. */
export function plainly(error: unknown, request: LeaseRequest): string {
  if (!(error instanceof Refusal) || error.status === 401 || error.status >= 500) return explain(error);
  const found = /^(?:Malformed parameter|Missing parameter) '?(\w+)'?(?:: )?(.*)$/.exec(error.message);
  const [, key, why] = found ?? [];
  if (key === 'name' && why?.startsWith('at most 80 ')) return say('nameLong');
  const input = request.parts.flatMap((part) => inputsOf(typeOf(part.type))).find((one) => one.key === key);
  if (!input) return error.message;
  return why ? say('limit', { field: labelOf(input), why }) : say('missing', { fields: labelOf(input) });
}

/** Return what to ask the availability for a reservation; null if there are no figures of it. */
function measured(part: Part): { resource_type: string; resources?: string } | null {
  const type = typeOf(part.type);
  const sizes = (named: Record<string, string | undefined>): string => Object.entries(named)
    .filter(([, size]) => Number(size) > 0).map(([name, size]) => `${name}:${Number(size)}`).join(',');
  if (type.name === 'virtual:instance') {
    const { vcpus, memory_mb, disk_gb } = part.fields;
    return { resource_type: 'physical:host', resources: sizes({ VCPU: vcpus, MEMORY_MB: memory_mb, DISK_GB: disk_gb }) };
  }
  if (/^(flavor:instance|virtual:(server|stack|volume))$/.test(type.name)) return null;
  if (type.exclusive !== false) return { resource_type: type.name };
  const one = (name: string): [string, string] => [name, part.fields[`resources.${name}`] || '1'];
  return { resource_type: type.name, resources: sizes(Object.fromEntries((type.classes ?? []).map(one))) };
}

/** Return in words how many are free in the whole period; empty if that is not known. */
async function figure(part: Part, request: LeaseRequest, signal: AbortSignal): Promise<string> {
  const asked = measured(part);
  if (!asked) return '';
  const d = duration(request.end - request.start);
  let wanted: Expression | null = requirement(populationOf(part.type), part.conditions);
  if (size(wanted) > MOST_TERMS) wanted = requirement(populationOf(part.type), part.conditions.slice(0, 1));
  try {
    const { body } = await call<{ availability: Availability }>('GET', 'availability', undefined, {
      signal, params: {
        ...asked, start: iso(Math.max(request.start, present())), end: iso(request.end), step: Math.round(request.end - request.start),
        resource_properties: wanted && JSON.stringify(wanted),
      },
    });
    const group = body.availability.groups[0];
    const series = asked.resources ? group?.slots : group?.whole;
    const least = (all: number[] | undefined): number => (all?.length ? Math.min(...all) : 0);
    const free = least(series?.free);
    const type = typeOf(part.type);
    if (part.type !== asked.resource_type) return say('room', { things: things(type, free), d });
    return say('figure', { free, things: things(type, least(series?.total)), d });
  } catch (error) {
    if (error instanceof Refusal) return '';
    throw error;
  }
}

/** Return the alternatives of a refusal as what one can take. */
async function optionsOf(request: LeaseRequest, alternatives: Alternative[], signal: AbortSignal): Promise<Option[]> {
  const found = alternatives.filter(({ reason }) => reason !== 'soonest').map((one) => optionOf(request, one));
  if (!isNamed(request)) return found;
  const wide = widened(request);
  const fits = await rehearse(wide, signal).then(() => true, (error: unknown) => {
    if (error instanceof Refusal) return false;
    throw error;
  });
  const any = { text: say('altOther', { things: inWords(wide) }), detail: '', request: wide };
  return fits ? [any, ...found.filter(({ text }) => text !== any.text)] : found;
}

function optionOf(request: LeaseRequest, alternative: Alternative): Option {
  const { reason, requirements = [] } = alternative;
  const amounts = new Map(alternative.reservations.map((one) => [one.reservation, one.amount]));
  const adapted = (part: Part, number: number): Part => {
    const changes = requirements.filter(({ reservation }) => reservation === number);
    return {
      ...part, amount: amounts.get(number) || part.amount,
      conditions: changes.reduce((all, { property, values }) => instead(all, property, values), part.conditions),
    };
  };
  const parts = request.parts.map(adapted).filter((_, number) => amounts.get(number) !== 0);
  const [start, end] = [seconds(alternative.start_date), seconds(alternative.end_date)];
  const detail = say('forLength', { d: duration((reason === 'longest' ? end : request.end) - request.start) });
  if (reason === 'longest') {
    const shorter = { ...request, parts, end };
    return { text: say('altUntil', { things: inWords(shorter), end: moment(end) }), detail, request: shorter };
  }
  const same = { ...request, parts };
  if (reason === 'other_property') {
    const condition = requirements.map(({ property, values }) => (property === 'hypervisor_hostname'
      ? either(values) : say('equals', { property, values: either(values) }))).join(', ');
    return { text: say('altWith', { things: inWords(same), condition }), detail, request: same };
  }
  if (reason === 'most') return { text: say('altNow', { things: inWords(same) }), detail, request: same };
  const later = { ...request, parts, start, end };
  return {
    text: say('altFrom', { things: inWords(later), start: moment(start) }), request: later,
    detail: say('forLength', { d: duration(end - start) }),
  };
}

/** Ask for offers of a request: the next periods in which it fits. */
export async function ask(request: LeaseRequest, more: { hold?: number }, signal?: AbortSignal): Promise<Offer[]> {
  const { body } = await call<{ offers: Offer[] }>('POST', 'offers', {
    duration: Math.round(request.end - request.start), earliest: iso(Math.max(request.start, present())),
    limit: OFFERS, reservations: request.parts.map(bodyOf), ...more,
  }, signal ? { signal } : {});
  return body.offers;
}

/** Return what a form cannot send yet; null if it can. */
export function unready(request: LeaseRequest): Verdict | null {
  if (request.soon?.latest && request.soon.latest < (request.soon.earliest ?? present()) + request.soon.length) {
    return refused(say('windowBad'));
  }
  if (!request.soon && request.end <= request.start) return refused(say('periodBad'));
  const found = request.parts.map(faults);
  const missing = found.flatMap((one) => one.missing);
  if (missing.length) return { ...CHECKING, detail: say('missing', { fields: missing.join(', ') }) };
  const [bad] = found.flatMap((one) => one.bad);
  return bad ? refused(say('badJson', { field: bad })) : null;
}

/** Check a request whenever it has not changed for a moment; not before its conditions are known. */
export function useVerdict(request: LeaseRequest, settled: boolean): [Verdict, (offers: Offer[]) => void] {
  const [verdict, setVerdict] = useState(CHECKING);
  // Offers that are held stay, also if others give something back.
  const holds = useRef(false);
  const signedIn = state.session?.signed_in;
  useEffect(() => {
    const early = unready(request);
    setVerdict(early ?? CHECKING);
    // The form waits for the next session.
    if (early || !signedIn || !settled) return undefined;
    holds.current = false;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const asked = async (): Promise<void> => {
      const next = await check(request, abort.signal);
      setVerdict(next);
      if (next.offers) timer = setTimeout(again, AGAIN);
    };
    // What is in the way may end, or be deleted, while the form is open.
    const again = (): void => {
      if (holds.current) return;
      timer = setTimeout(again, AGAIN);
      if (document.visibilityState !== 'visible') return;
      rehearse(request, abort.signal).then(() => {
        clearTimeout(timer);
        if (!holds.current) asked().catch(trouble);
      }, (error: unknown) => {
        if (!(error instanceof Refusal)) trouble(error);
      });
    };
    timer = setTimeout(() => void asked().catch(trouble), PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [JSON.stringify(request), signedIn, settled]);
  const hold = (offers: Offer[]): void => {
    holds.current = true;
    setVerdict({ ...verdict, offers });
  };
  return [verdict, hold];
}
