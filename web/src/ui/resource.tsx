// SPDX-License-Identifier: Apache-2.0

/** A resource, with its properties. */
import { useEffect, useState } from 'preact/hooks';
import { get, iso } from '../data/api.ts';
import { present, state, update } from '../data/state.ts';
import { parse } from '../model/columns.ts';
import type { CalendarAnswer } from '../model/columns.ts';
import { bookedShare, gaps } from '../model/hits.ts';
import type { Gap } from '../model/hits.ts';
import { plainName } from '../model/names.ts';
import { duration, moment, percent, say } from '../words/index.ts';
import { freshDraft, soonest } from './drafts.ts';
import { Sheet } from './drawer.tsx';
import { Loading } from './fields.tsx';
import { FactList } from './facts.tsx';

interface Resource {
  attributes?: Record<string, unknown>; properties?: Record<string, unknown>;
  inventories?: Record<string, { total: number }>; traits?: string[];
  disabled?: boolean; failed_at?: string | null;
}
const LONG = 80;
const DAY = 86400;
/** How far ahead free time is looked for, and how much of it is shown. */
const AHEAD = 60 * DAY;
const MOST_GAPS = 4;
const MOST_ALIKE = 100;
const USUAL = 4 * 3600;

interface Free { gaps: Gap[]; booked: number }

/** Return when a resource is free; null if it is not in the calendar. */
async function freeTime(id: number, name: string): Promise<Free | null> {
  const now = soonest();
  const { calendar } = await get<{ calendar: CalendarAnswer }>('calendar', {
    // Names that begin alike follow the one itself.
    resource_type: state.type, search: name, limit: MOST_ALIKE, start: iso(now), end: iso(now + AHEAD),
  });
  const row = calendar.resources.id.indexOf(id);
  if (row < 0) return null;
  const chunk = parse(calendar, 0);
  return { gaps: gaps(chunk, row, now), booked: bookedShare(chunk, row, now, now + 7 * DAY) };
}

const rowsOf = (table: Record<string, unknown> | undefined): [string, string][] =>
  Object.entries(table ?? {}).filter(([, value]) => value !== null && String(value).length <= LONG)
    .map(([name, value]) => [name, String(value)]);

export function ResourceDetails({ id, name }: { id: number; name: string }) {
  const [found, setFound] = useState<Resource | null>(null);
  const [free, setFree] = useState<Free | null>(null);
  useEffect(() => {
    freeTime(id, name).then(setFree, () => setFree(null));
    get<{ resource: Resource }>(`resources/${id}`).then(({ resource }) => setFound(resource),
      // Who may not show resources still sees the name, and can reserve it.
      () => setFound({}));
  }, [id]);
  const draft = () => ({ ...freshDraft(), names: [name], ids: [id] });
  const capacity = Object.fromEntries(Object.entries(found?.inventories ?? {})
    .map(([key, value]) => [key, value.total]));
  return (
    <Sheet title={plainName(name)}>
      {!found && <Loading />}
      {found?.failed_at && <p><span class="badge error">{say('failed')}</span></p>}
      {found?.disabled && <p><span class="badge">{say('disabled')}</span></p>}
      {free && <FreeTime free={free} name={name} id={id} />}
      <Facts title={say('capacity')} facts={rowsOf(capacity)} />
      <Facts title={say('properties')} facts={[...rowsOf(found?.properties), ...rowsOf(found?.attributes)]} />
      {found?.traits && found.traits.length > 0 && (
        <p class="tags">{found.traits.map((trait) => <code key={trait}>{trait}</code>)}</p>
      )}
      <div class="actions">
        <button type="button" class="primary" onClick={() => update({ drawer: { kind: 'form', draft: draft() } })}>
          {say('reserve')}
        </button>
        {state.me?.may['maintenances:create'] && (
          <button type="button" onClick={() => update({ drawer: { kind: 'closing', draft: draft() } })}>
            {say('addMaintenance')}
          </button>
        )}
      </div>
    </Sheet>
  );
}

/** The next periods that are free; each opens the form. */
function FreeTime(props: { free: Free; name: string; id: number }) {
  const { gaps: all, booked } = props.free;
  const reserve = (gap: Gap): void => {
    // Some of it may have passed since it was shown.
    const start = Math.max(gap.start, soonest());
    const draft = { start, end: Math.min(gap.end, start + USUAL), amount: 1,
      names: [props.name], ids: [props.id] };
    update({ drawer: { kind: 'form', draft } });
  };
  return (
    <section class="offers">
      <h3>{say('nextFree')}</h3>
      {all.length === 0 && <p class="muted">{say('neverFree')}</p>}
      {all.slice(0, MOST_GAPS).map((gap) => {
        const d = duration(gap.end - gap.start);
        return (
          <button type="button" key={gap.start} onClick={() => reserve(gap)}>
            <strong>{gap.start <= present() + 60 ? say('now') : moment(gap.start)}</strong>
            <span>{say(gap.open ? 'freeAtLeast' : 'free', { d })}</span>
          </button>
        );
      })}
      <p class="muted">{say('bookedSoon', { share: percent(booked) })}</p>
    </section>
  );
}

function Facts({ title, facts }: { title: string; facts: [string, string][] }) {
  if (facts.length === 0) return null;
  return <section><h3>{title}</h3><FactList facts={facts} /></section>;
}
