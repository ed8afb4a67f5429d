// SPDX-License-Identifier: Apache-2.0

/** What the page shows, and how parts of it learn of changes. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { DENSITIES, Viewport } from '../model/viewport.ts';
import type { Density } from '../model/viewport.ts';
import { setLanguage, setZone, LANGUAGES } from '../words/index.ts';
import type { Me, ResourceType, Session } from './types.ts';

export interface Draft {
  start: number; end: number; amount: number; names: string[]; ids: number[];
}
export type Drawer =
  | { kind: 'form'; draft: Draft }
  | { kind: 'lease'; id: string; times?: { start?: number; end?: number } }
  | { kind: 'resource'; id: number; name: string }
  | { kind: 'closing'; draft: Draft }
  | { kind: 'maintenance'; id: string; name: string; start: number; end: number };
export type View = 'calendar' | 'utilisation' | 'leases';

const kept = (key: string, otherwise: string): string =>
  localStorage.getItem(`climate.${key}`) ?? otherwise;

const now = Math.floor(Date.now() / 1000);
const firstType = kept('type', 'physical:host');
export const viewport = new Viewport(now - 86400 / 2);

export const state = {
  session: null as Session | null,
  me: null as Me | null,
  view: 'calendar' as View,
  /** All that are known: the others come after the first bars. */
  types: [{ name: firstType }] as ResourceType[],
  /** Those and the types that have no resources of their own: all that can be booked. */
  bookable: [{ name: firstType }] as ResourceType[],
  type: firstType,
  group: '',
  /** Keys of groups that are folded, and of the only one that is shown; see Layout. */
  folded: new Set<string>() as ReadonlySet<string>,
  only: null as string | null,
  /** Those of the resources of a type, by which they can be grouped; null if not known. */
  properties: null as string[] | null,
  search: '',
  density: kept('density', 'comfortable') as Density,
  mineOnly: false,
  zone: kept('zone', Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'),
  theme: kept('theme', 'auto'),
  language: kept('language', firstLanguage()),
  drawer: null as Drawer | null,
  /** The lease to whose time the calendar goes once it is known: that of a link in a mail. */
  sought: '',
  online: true,
  /** Whether a session has ended by itself, and the user has not signed in since. */
  ended: false,
  notice: '',
  /** The id of the calendar link that was revoked last. */
  revoked: '',
  spoken: '',
  /** Seconds that the clock of the server is ahead. */
  ahead: 0,
};
export type State = typeof state;

function firstLanguage(): string {
  return navigator.languages.map((one) => one.slice(0, 2)).find((one) => one in LANGUAGES) ?? 'en';
}

const listeners = new Set<() => void>();
const KEPT = ['type', 'density', 'zone', 'theme', 'language'] as const;

/** Change the state, and draw what shows it again. */
export function update(change: Partial<State>): void {
  Object.assign(state, change);
  for (const key of KEPT) {
    if (key in change) localStorage.setItem(`climate.${key}`, String(state[key]));
  }
  apply();
  listeners.forEach((listener) => listener());
}

function apply(): void {
  setLanguage(state.language);
  setZone(state.zone);
  viewport.rowHeight = DENSITIES[state.density] ?? DENSITIES.comfortable;
  const root = document.documentElement;
  root.lang = state.language;
  root.dataset.theme = state.theme;
}
apply();

/** A change that ends grouping. */
export const UNGROUPED = { group: '', folded: new Set<string>(), only: null };

/** Show the resources of a group, or only its head. */
export function fold(key: string): void {
  const folded = new Set(state.folded);
  if (!folded.delete(key)) folded.add(key);
  update({ folded });
}

/** Draw a component again whenever the state changes. */
export function useChanges(): State {
  const [, again] = useState(0);
  // An effect would be after the next frame, and changes before that would be missed.
  useLayoutEffect(() => {
    const listener = (): void => again((count) => count + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return state;
}

/** Call back after each change; the answer ends that. */
export function onChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Return the present, by the clock of the server. */
export const present = (): number => Date.now() / 1000 + state.ahead;

/** Share of the period that is before what it is about, such as the present. */
const BEFORE = 14;
/** Return the beginning of the period that has a time near its left edge. */
export const startAt = (at: number): number => at - viewport.span / BEFORE;
export const startNow = (): number => startAt(present());

/** Announce to screen readers, without showing it. */
export const speak = (spoken: string): void => update({ spoken });
