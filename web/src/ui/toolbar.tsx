// Licensed under the Apache License, Version 2.0 (the "License"); you may
// not use this file except in compliance with the License. You may obtain
// a copy of the License at
//
//      http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
// WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
// License for the specific language governing permissions and limitations
// under the License.

/** The bar above the calendar: period, zoom, filters, and the button that reserves. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { onData, rows, toType } from '../data/live.ts';
import { keyOf } from '../model/layout.ts';
import { UNGROUPED, present, state, update, viewport } from '../data/state.ts';
import { DENSITIES, SPANS } from '../model/viewport.ts';
import type { Density } from '../model/viewport.ts';
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

function today(): void {
  viewport.start = present() - viewport.span / 14;
  moved();
}

function toSpan(span: number): void {
  const now = present();
  const seen = now >= viewport.start && now < viewport.end;
  const fixed = seen ? viewport.x(now) : viewport.width / 2;
  viewport.zoom(span / viewport.span, fixed);
  if (seen && fixed > viewport.width * 0.4) viewport.start = now - viewport.span / 14;
  moved();
}

function zoom(factor: number): void {
  viewport.zoom(factor, viewport.width / 2);
  moved();
}

/** The period in view; written without a render, for it changes in each frame of a pan. */
function Period() {
  const text = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const write = (): void => {
      const period = `${fullDay(viewport.start)} – ${fullDay(viewport.end)}`;
      if (text.current && text.current.textContent !== period) text.current.textContent = period;
      document.querySelectorAll<HTMLElement>('[data-span]').forEach((button) => {
        const near = Math.abs(Number(button.dataset.span) / viewport.span - 1) < 0.02;
        if (button.ariaPressed !== String(near)) button.ariaPressed = String(near);
      });
    };
    write();
    moves.add(write);
    return () => void moves.delete(write);
  });
  return <h1 class="period" ref={text} />;
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

function Filters() {
  const densities = Object.keys(DENSITIES) as Density[];
  return (
    <div class="filters">
      <input type="search" class="search" aria-label={say('search')} placeholder={say('search')}
        onInput={(event) => searched(value(event))} />
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
