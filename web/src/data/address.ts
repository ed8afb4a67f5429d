// SPDX-License-Identifier: Apache-2.0

/**
 * The address says what is shown, so that back, forward, reload and links show it again:
 * `#/calendar?type=physical:host&from=2027-01-04T00:00Z&hours=168&lease=ID`. What cannot be sent
 * to others, such as a form, is in the state of the entry in the history.
 */
import { iso, seconds } from './api.ts';
import { announce, whatProperties } from './live.ts';
import { UNGROUPED, onChange, startNow, state, update, viewport } from './state.ts';
import type { Drawer, State, View } from './state.ts';
import { SPANS } from '../model/viewport.ts';

/** Milliseconds after which the entry has the time to which one moved. */
const PAUSE = 400;
const VIEWS: Record<View, readonly string[]> = {
  calendar: ['type', 'search', 'group', 'only', 'mine', 'from', 'hours'],
  utilisation: ['type', 'group'],
  leases: [],
};
const HOUR = 3600;
const RETURN = 'climate.return';

let noted = '';
let place = '';
let held: Drawer | null = null;
let timer = 0;
let reads = false;

function values(): Record<string, string> {
  const away = Math.abs(viewport.start - startNow()) > Math.max(60, viewport.span / 500);
  return {
    type: state.type, search: state.search, group: state.group, only: state.only ?? '',
    mine: state.mineOnly ? 'true' : '',
    from: away ? iso(viewport.start).replace(/:..Z/, 'Z') : '',
    hours: viewport.span === SPANS.week ? '' : String(Math.round((viewport.span / HOUR) * 100) / 100),
  };
}

function drawerValues(drawer: Drawer | null): Record<string, string> {
  if (drawer?.kind === 'lease') return { lease: drawer.id };
  return drawer?.kind === 'resource' ? { resource: `${drawer.id}/${drawer.name}` } : {};
}

/** Return the address of a view and a drawer, with the filters and the period of now. */
export function addressOf(view: View, drawer: Drawer | null): string {
  const query = new URLSearchParams();
  const all = values();
  const shown = VIEWS[view].map((name) => [name, all[name]!] as const);
  for (const [name, value] of [...shown, ...Object.entries(drawerValues(drawer))]) {
    if (value) query.set(name, value);
  }
  const text = query.toString().replaceAll('%3A', ':').replaceAll('%2F', '/');
  return `#/${view}${text && '?'}${text}`;
}

/** Return what an entry of its own is made for. */
const placeOf = (view: View, drawer: Drawer | null): string =>
  [view, drawer?.kind, drawer && 'id' in drawer ? drawer.id : ''].join(' ');

/** Keep what is shown, in a new entry if it is another view or drawer. */
export function keep(): void {
  if (reads) return;
  const { view, drawer } = state;
  const [now, address] = [placeOf(view, drawer), addressOf(view, drawer)];
  if (now !== place) {
    // A form that has become a lease is not filled in again.
    const done = /^\w+ form/.test(place) && drawer?.kind === 'lease';
    write(done ? 'replaceState' : 'pushState');
  } else if (address !== noted || drawer !== held) {
    // Browsers allow few changes in a second, and a pan makes one in each frame.
    timer ||= window.setTimeout(() => write('replaceState'), PAUSE);
  }
}

function write(how: 'pushState' | 'replaceState'): void {
  note();
  history[how]({ drawer: state.drawer }, '', noted);
}

function note(): void {
  clearTimeout(timer);
  timer = 0;
  noted = addressOf(state.view, state.drawer);
  place = placeOf(state.view, state.drawer);
  held = state.drawer;
}

/** Return the drawer that the parameters or the entry of the history have. */
function drawerOf(query: URLSearchParams, id: string): Drawer | null {
  const lease = query.get('lease') ?? id;
  if (lease) return { kind: 'lease', id: lease };
  const [number, ...name] = (query.get('resource') ?? '').split('/');
  if (Number(number) > 0) return { kind: 'resource', id: Number(number), name: name.join('/') };
  return (history.state as { drawer?: Drawer } | null)?.drawer ?? null;
}

/** Return the filters that the parameters of a view have; those that are missing are off. */
function filtersOf(view: View, query: URLSearchParams): Partial<State> {
  const type = query.get('type') ?? state.type;
  const types = state.types.some(({ name }) => name === type) ? state.types : [{ name: type }];
  const all: Partial<State> = {
    type, group: query.get('group') ?? '', search: query.get('search') ?? '',
    only: query.get('only'), mineOnly: query.get('mine') === 'true',
  };
  if (view === 'leases') return {};
  return view === 'calendar' ? { types, ...all } : { types, type, group: all.group! };
}

function readPeriod(query: URLSearchParams): void {
  const [hours, from] = [Number(query.get('hours')), seconds(query.get('from') ?? '')];
  viewport.span = SPANS.week;
  if (hours > 0) viewport.zoom((hours * HOUR) / viewport.span, 0);
  viewport.start = Number.isNaN(from) ? startNow() : from;
}

/** Show what the address says. */
export function read(): void {
  const [path = '', text] = location.hash.replace(/^#\/?/, '').split('?');
  const [view = '', id = ''] = path.split('/');
  const query = new URLSearchParams(text);
  const old = view === 'lease';
  const next = view in VIEWS ? view as View : old ? state.view : 'calendar';
  const before = state.type;
  reads = true;
  try {
    // The links in mails name a lease only: it opens over what is there, at its time.
    if (!old && next === 'calendar') readPeriod(query);
    const filters = old ? {} : filtersOf(next, query);
    const grouped = (filters.group ?? state.group) === state.group ? {} : UNGROUPED;
    const sought = old ? decoded(id) : '';
    update({ view: next, ...grouped, ...filters, sought, drawer: drawerOf(query, sought) });
  } finally {
    reads = false;
  }
  note();
  if (state.type !== before && state.me) void whatProperties();
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** Leave for a page that comes back without the part of the address behind the hash. */
export function leave(address: string): void {
  sessionStorage.setItem(RETURN, location.hash);
  location.assign(address);
}

/** Show what the address says, from now on in both directions. */
export function follow(): void {
  const back = sessionStorage.getItem(RETURN);
  sessionStorage.removeItem(RETURN);
  if (back !== null) announce();
  if (back && location.hash.length < 2) history.replaceState(null, '', back);
  read();
  onChange(keep);
  window.addEventListener('popstate', read);
}
