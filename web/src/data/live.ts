// SPDX-License-Identifier: Apache-2.0

/** What the page asks again and again while it is visible. */
import { Refusal, call, get, iso, session } from './api.ts';
import { demanded, loadFree } from './free.ts';
import { Rows } from './rows.ts';
import { UNGROUPED, present, startNow, state, update, viewport } from './state.ts';
import type { Availability, Me, ResourceType, Session } from './types.ts';
import { keyOf } from '../model/layout.ts';
import { inOrder } from '../words/kinds.ts';
import { say } from '../words/index.ts';

const PAUSE = 8000;
/** Milliseconds after which most changes have had their effect. */
const EFFECT = 1500;
const HIDDEN_TYPES = /^(virtual:(?!floatingip)|flavor:)/;
/** Return whether a type has resources of its own, so that the calendar has rows of it. */
export const hasRows = (type: string): boolean => !HIDDEN_TYPES.test(type);
/** Values that the service answers at most are 20,000, and up to a third more are asked for. */
const CELLS = 15000;
/** Pixels that the head of a group needs at least. */
const HEAD = 18;
/** Seconds by which clocks differ without harm. */
const NEAR = 60;
/** Seconds of the buckets of the strip. */
const STEPS = [900, 1800, 3600, 7200, 21600, 43200, 86400, 172800];

const STRIP_PAUSE = 150;
let stripTimer = 0;
let stripLoads = false;

const listeners = new Set<() => void>();
export const drawAgain = (): void => listeners.forEach((listener) => listener());
/** Call back when there is something new to draw; the answer ends that. */
export function onData(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const rows = new Rows(answered, trouble);
export const strip = {
  answer: null as Availability | null, etag: null as string | null, key: '', start: 0,
};

function answered(): void {
  if (!state.online) update({ online: true, notice: say('back') });
  drawAgain();
}

/** React to a request that failed: signed out, no connection, or a refusal to show. */
export function trouble(error: unknown): void {
  if (error instanceof DOMException && error.name === 'AbortError') return;
  if (error instanceof Refusal && error.status === 401) {
    const known = state.session ?? { auth_strategy: 'keystone' as const, languages: [] };
    const ended = state.ended || Boolean(state.me);
    update({ session: { ...known, signed_in: false }, me: null, ended });
  } else if (error instanceof Refusal && error.status < 500) {
    update({ notice: explain(error) });
  } else if (state.online) {
    update({ online: false });
  }
}

export function explain(error: unknown): string {
  if (!(error instanceof Refusal)) return say('gone');
  const request = error.status >= 500 && error.request ? ` (${say('request', { id: error.request })})` : '';
  return say('wrong', { why: error.message }) + request;
}

/** Learn who looks at the page, then fetch what does not change. */
export async function begin(): Promise<void> {
  try {
    const found = await session<Session>('GET').catch(() => null);
    const known = found?.body ?? { auth_strategy: 'noauth' as const, signed_in: true, languages: [] };
    update({ session: known });
    if (known.auth_strategy === 'keystone' && !known.signed_in) return;
    if (state.ended) update({ ended: false });
    look();
    // The first bars do not wait for the rest, nor share the processor of the server with it.
    if (state.view === 'calendar') await rows.first;
    await Promise.all([whoAmI(), whatTypes(), whatProperties()]);
  } catch (error) {
    trouble(error);
  }
}

const SESSION = 'climate.session';
/** Have other tabs, which have the same cookie, find out whose session it is now. */
export const announce = (): void => localStorage.setItem(SESSION, String(Date.now()));

const ENTERED = 'climate.signIn';
/** Keep what a user has entered, without secrets, for the next sign-in in this tab. */
export const remember = (entered: Record<string, string>): void =>
  sessionStorage.setItem(ENTERED, JSON.stringify(entered));
export const remembered = (): Record<string, string> =>
  JSON.parse(sessionStorage.getItem(ENTERED) ?? '{}') as Record<string, string>;
const forget = (): void => sessionStorage.removeItem(ENTERED);

export async function signOut(): Promise<void> {
  try {
    await session('DELETE');
  } catch (error) {
    // Who believes to be signed out leaves the session to the next person at the machine.
    update({ notice: explain(error) });
    return;
  }
  forget();
  announce();
  update({ session: { ...state.session!, signed_in: false }, me: null, drawer: null, notice: say('signedOut') });
}

async function whoAmI(): Promise<void> {
  const asked = Date.now();
  const { me } = await get<{ me: Me }>('me');
  const near = Math.abs(viewport.start - startNow()) < NEAR;
  update({ me, ahead: me.server_time - (asked + Date.now()) / 2000 });
  // The period of today is that of the service, whose clock may be another one.
  if (near && Math.abs(viewport.start - startNow()) > NEAR) viewport.start = startNow();
  drawAgain();
}

async function whatTypes(): Promise<void> {
  const answer = await get<{ resource_types: ResourceType[] }>('resource-types').catch(() => null);
  const found = answer?.resource_types ?? [];
  if (!found.some((type) => type.name === 'physical:host')) found.push({ name: 'physical:host' });
  const bookable = inOrder(found);
  const types = bookable.filter(({ name }) => hasRows(name));
  update({ types, bookable, type: types.some(({ name }) => name === state.type) ? state.type : types[0]!.name });
}

/** Fetch the properties by which resources can be grouped. */
export async function whatProperties(): Promise<void> {
  const answer = await get<{ resource_properties: { property: string }[] }>(
    'resources/properties', { type: state.type }).catch(() => null);
  update({ properties: answer?.resource_properties.map((one) => one.property) ?? [] });
}

/** Show resources of another type. */
export function toType(type: string): void {
  update({ type, ...UNGROUPED });
  void whatProperties();
}

/** Return the availability of the groups that are shown, of all. */
export function shownGroups(answer: Availability | null): Availability | null {
  if (!answer || state.only === null) return answer;
  return { ...answer, groups: answer.groups.filter(({ value }) => keyOf(value) === state.only) };
}

/** Fetch what the grid shows and does not have. */
export function look(): void {
  rows.want({
    type: state.type, search: state.search.replace(/\s*=\s*/, '='), group: state.group, mine: state.mineOnly,
  });
  rows.arrange({
    head: Math.ceil(HEAD / viewport.rowHeight), folded: state.folded, only: state.only,
  });
  const first = viewport.row(0);
  const last = viewport.row(Math.max(viewport.height, 600));
  rows.show(first, last, viewport.start, viewport.end);
  if (rows.total < 0) return;
  // Not in each frame of a zoom.
  stripTimer ||= window.setTimeout(() => {
    stripTimer = 0;
    void loadStrip(false);
    void figures(false);
  }, STRIP_PAUSE);
}

async function loadStrip(again: boolean): Promise<void> {
  if (stripLoads) return;
  const most = Math.min(500, CELLS / (state.group ? rows.groups?.length || 1 : 1));
  const step = STEPS.find((one) => (viewport.span * 3) / one <= most) ?? 172800;
  // What is free is known from the present on.
  const today = Math.floor(present() / step) * step;
  // In powers of two, so that a zoom keeps its answer for a while.
  const wide = step * 2 ** Math.ceil(Math.log2((viewport.span * 2) / step));
  const least = Math.max(today, viewport.start);
  const what = `${step} ${wide} ${state.type} ${state.group} ${demanded()}`;
  const inside = least >= strip.start && viewport.end <= strip.start + wide;
  const known = strip.key === what;
  const same = known && inside && strip.start >= today;
  if ((same && !again) || viewport.end <= today) return;
  const start = Math.floor((viewport.start - viewport.span / 2) / step) * step;
  const begins = same ? strip.start : Math.max(start, today);
  const etag = same ? strip.etag : null;
  Object.assign(strip, { key: what, start: begins });
  stripLoads = true;
  try {
    const answer = await call<{ availability: Availability }>('GET', 'availability', undefined, {
      etag, params: {
        resource_type: state.type, step, group_by: state.group, resource_properties: demanded(),
        start: iso(begins), end: iso(begins + wide),
      },
    });
    if (answer.status !== 304) {
      Object.assign(strip, { answer: answer.body.availability, etag: answer.etag });
    }
  } catch (error) {
    // No figures for a type is no trouble: the grid says what there is. A period that was over
    // when the service read the request is asked for again, from a later start.
    if (!(error instanceof Refusal) || error.status === 401 || error.status >= 500) trouble(error);
    else if (!known) strip.answer = null;
  } finally {
    stripLoads = false;
  }
  // The view may have moved on, which drawing notices.
  drawAgain();
}

async function figures(again: boolean): Promise<void> {
  await loadFree(again).then(drawAgain, trouble);
}

const turns = new Set<() => void>();
/** Call back whenever it is time to ask again; the answer ends that. */
export function onTurn(listener: () => void): () => void {
  turns.add(listener);
  return () => void turns.delete(listener);
}

/** Ask at once. */
function refresh(): void {
  rows.poll();
  void loadStrip(true);
  void figures(true);
  turns.forEach((listener) => listener());
}

/** Ask at once, after something was changed here, and again when that has had its effect. */
export function afterChange(): void {
  refresh();
  setTimeout(refresh, EFFECT);
}

export function keepAsking(): void {
  const turn = (): void => {
    const signedIn = state.session?.signed_in || state.session?.auth_strategy === 'noauth';
    if (document.visibilityState === 'visible' && signedIn) refresh();
  };
  setInterval(turn, PAUSE);
  document.addEventListener('visibilitychange', turn);
  window.addEventListener('online', turn);
  window.addEventListener('storage', ({ key }) => {
    if (key !== SESSION) return;
    // Nothing of the other session may stay, but for what was typed.
    if (state.drawer?.kind === 'form' || state.drawer?.kind === 'closing') void begin();
    else location.reload();
  });
  window.addEventListener('offline', () => update({ online: false }));
  // The line of the present moves.
  setInterval(drawAgain, 30000);
}

export { present };
