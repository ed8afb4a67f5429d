// SPDX-License-Identifier: Apache-2.0

/** The bar above the calendar: period, zoom, filters, and the button that reserves. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { onData, rows, toType } from '../data/live.ts';
import { keyOf } from '../model/layout.ts';
import { UNGROUPED, present, startNow, state, update, viewport } from '../data/state.ts';
import { DENSITIES, SPANS } from '../model/viewport.ts';
import type { Density } from '../model/viewport.ts';
import { fromInput, toInput } from '../model/zones.ts';
import { fullDay, say } from '../words/index.ts';
import { kindOf } from '../words/kinds.ts';
import { freshDraft } from './drafts.ts';

/** What is called when the period or the rows in view change. */
export const moves = new Set<() => void>();
const moved = (): void => moves.forEach((one) => one());

function jump(spans: number): void {
  viewport.start += viewport.span * spans;
  moved();
}

export function today(): void {
  viewport.start = startNow();
  moved();
}

function toSpan(span: number): void {
  const now = present();
  const seen = now >= viewport.start && now < viewport.end;
  const fixed = seen ? viewport.x(now) : viewport.width / 2;
  viewport.zoom(span / viewport.span, fixed);
  if (seen && fixed > viewport.width * 0.4) viewport.start = startNow();
  moved();
}

function zoom(factor: number): void {
  viewport.zoom(factor, viewport.width / 2);
  moved();
}

/** Show a day from its beginning; nothing as long as the text is not the date of one. */
function goTo(date: HTMLInputElement): void {
  const at = date.validity.valid ? fromInput(`${date.value}T00:00`, state.zone) : NaN;
  if (Number.isNaN(at)) return;
  viewport.start = at;
  moved();
}

/** Go to the field of the date with a key, from wherever one does not type. */
function byKey(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  const typing = (target as Element).matches?.('input, select, textarea, [contenteditable]');
  if (key.toLowerCase() !== 'g' || ctrlKey || metaKey || altKey || typing) return;
  event.preventDefault();
  document.querySelector<HTMLInputElement>('.date')?.focus();
}

/**
 * The period in view; written without a render, for it changes in each frame of a pan. The field
 * shows the first day, and goes to the one that is chosen.
 */
function Period() {
  const text = useRef<HTMLHeadingElement>(null);
  const date = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.addEventListener('keydown', byKey);
    return () => document.removeEventListener('keydown', byKey);
  }, []);
  useLayoutEffect(() => {
    const write = (): void => {
      const [first, last] = text.current!.children;
      const [from, until] = [fullDay(viewport.start), ` – ${fullDay(viewport.end)}`];
      if (first!.textContent !== from) first!.textContent = from;
      if (last!.textContent !== until) last!.textContent = until;
      const day = toInput(viewport.start, state.zone).slice(0, 10);
      // Not under the hands of one who types.
      if (date.current !== document.activeElement && date.current!.value !== day) date.current!.value = day;
      document.querySelectorAll<HTMLElement>('[data-span]').forEach((button) => {
        const near = Math.abs(Number(button.dataset.span) / viewport.span - 1) < 0.02;
        if (button.ariaPressed !== String(near)) button.ariaPressed = String(near);
      });
    };
    write();
    moves.add(write);
    return () => void moves.delete(write);
  });
  return (
    <div class="when">
      <input type="date" class="date" ref={date} min="2000-01-01" max="2199-12-31"
        aria-label={say('goTo')} title={say('goTo')} aria-keyshortcuts="g" onBlur={moved}
        onChange={({ currentTarget }) => goTo(currentTarget)}
        onKeyDown={({ key }) => key === 'Enter' && document.querySelector<HTMLElement>('.grid')?.focus()} />
      <h1 class="period" ref={text}><span class="hidden" /><span /></h1>
    </div>
  );
}

function Spans() {
  const names = Object.keys(SPANS) as (keyof typeof SPANS)[];
  return (
    <div class="segments spans">
      <button type="button" aria-label={say('zoomOut')} onClick={() => zoom(1.5)}>−</button>
      {names.map((name) => (
        <button type="button" key={name} data-span={SPANS[name]} onClick={() => toSpan(SPANS[name])}>
          {say(name)}
        </button>
      ))}
      <button type="button" aria-label={say('zoomIn')} onClick={() => zoom(1 / 1.5)}>+</button>
    </div>
  );
}

let waiting = 0;
function searched(text: string): void {
  clearTimeout(waiting);
  waiting = window.setTimeout(() => update({ search: text.trim() }), 250);
}

const value = (event: Event): string => (event.currentTarget as HTMLSelectElement).value;

const ALL = 'all';
const NARROW = 720;

/** Which of the groups is shown; there once the service has said which groups there are. */
function OnlyGroup() {
  const [, again] = useState<unknown>(null);
  useLayoutEffect(() => onData(() => again(rows.groups)), []);
  const { groups } = rows;
  if (!state.group || !groups) return null;
  return (
    <select aria-label={say('shownGroup')} value={state.only ?? ALL}
      onChange={(event) => update({ only: value(event) === ALL ? null : value(event) })}>
      <option value={ALL}>{say('allGroups')}</option>
      {groups.map((group) => (
        <option key={keyOf(group.value)} value={keyOf(group.value)}>{group.value ?? '–'}</option>
      ))}
    </select>
  );
}

/** What is searched; also an address can say it. */
function Search() {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (input.current!.value.trim() !== state.search) input.current!.value = state.search;
  }, [state.search]);
  return (
    <input type="search" class="search" ref={input} aria-label={say('search')}
      placeholder={say('search')} onInput={(event) => searched(value(event))} />
  );
}

function Filters() {
  const densities = Object.keys(DENSITIES) as Density[];
  return (
    <div class="filters">
      <Search />
      <select aria-label={say('type')} value={state.type} onChange={(event) => toType(value(event))}>
        {state.types.map((type) => <option key={type.name} value={type.name}>{kindOf(type)}</option>)}
      </select>
      {/* Also before it is known, so that what is below does not move then. */}
      {state.properties?.length !== 0 && (
        <select aria-label={say('grouping')} value={state.group}
          onChange={(event) => update({ ...UNGROUPED, group: value(event) })}>
          <option value="">{say('ungrouped')}</option>
          {state.properties?.map((name) => (
            <option key={name} value={name}>{say('groupedBy', { name })}</option>
          ))}
        </select>
      )}
      <OnlyGroup />
      <select aria-label={say('density')} value={state.density}
        onChange={(event) => update({ density: value(event) as Density })}>
        {densities.map((name) => <option key={name} value={name}>{say(name)}</option>)}
      </select>
      <label class="check">
        <input type="checkbox" checked={state.mineOnly}
          onChange={() => update({ mineOnly: !state.mineOnly })} />
        {say('mineOnly')}
      </label>
    </div>
  );
}

export function Toolbar() {
  return (
    <div class="toolbar">
      <div class="segments">
        <button type="button" aria-label={say('earlier')} onClick={() => jump(-0.5)}>‹</button>
        <button type="button" onClick={today}>{say('today')}</button>
        <button type="button" aria-label={say('later')} onClick={() => jump(0.5)}>›</button>
      </div>
      <Period />
      <Spans />
      <div class="side">
        {/* On a phone they are in the way until they are wanted. */}
        <details open={window.innerWidth > NARROW}>
          <summary>{say('filters')}</summary>
          <Filters />
        </details>
        {state.me?.may['leases:create'] !== false && (
          <button type="button" class="primary reserve"
            onClick={() => update({ drawer: { kind: 'form', draft: freshDraft() } })}>
            {say('reserve')}
          </button>
        )}
      </div>
    </div>
  );
}
