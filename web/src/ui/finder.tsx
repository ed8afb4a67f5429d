// SPDX-License-Identifier: Apache-2.0

/** The search for a time: how long, between which days and hours, and what matters most. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Refusal, call, iso, seconds } from '../data/api.ts';
import { knownOf } from '../data/known.ts';
import { afterChange, trouble } from '../data/live.ts';
import { present, state } from '../data/state.ts';
import type { Offer } from '../data/types.ts';
import { instead } from '../model/requirement.ts';
import { MOST_DAYS, dayOf, windows } from '../model/windows.ts';
import type { Between, Window } from '../model/windows.ts';
import { say } from '../words/form/index.ts';
import { dayName, moment } from '../words/index.ts';
import { soonest } from './drafts.ts';
import { Field, Note } from './fields.tsx';
import { LengthFields, lengthOf } from './lengths.tsx';
import type { Length } from './lengths.tsx';
import { HOLD, OfferButton, useHeld } from './offers.tsx';
import { bodyOf, populationOf } from './parts.ts';
import type { LeaseRequest } from './parts.ts';
import { plainly, unready } from './verdict.ts';

const PREFERENCES = ['soonest', 'cheapest', 'fewest_resources', 'same'] as const;
interface SearchTerms extends Between, Length {
  prefer: (typeof PREFERENCES)[number]; property: string;
}
interface SearchResult { offers: Offer[] | null; progress: string; failure: string }

const DAY = 86400;
const MOST = 6;
/** Seconds between now and the first start that can still be taken. */
const LEAD = 120;

export interface FinderProps {
  request: LeaseRequest; busy: boolean; take: (offer: Offer) => void;
  /** What it does when the form around it is submitted. */
  enter: { current: (() => void) | null };
}

/** Ask for offers in one period. */
async function ask(request: LeaseRequest, terms: SearchTerms, window: Window, more: object, signal?: AbortSignal): Promise<Offer[]> {
  const { prefer } = terms;
  const { body } = await call<{ offers: Offer[] }>('POST', 'offers', {
    duration: terms.number * terms.unit, earliest: iso(window.start), latest: iso(window.end), prefer,
    ...(prefer === 'same' ? { property: terms.property } : {}), limit: MOST,
    reservations: request.parts.map(bodyOf), ...more,
  }, signal ? { signal } : {});
  return body.offers;
}

/** Return the offers of all periods, the best first; `searching` learns which is being searched. */
async function search(request: LeaseRequest, terms: SearchTerms, all: Window[], searching: (at: number) => void, signal: AbortSignal): Promise<Offer[]> {
  const found: Offer[] = [];
  for (const window of all) {
    searching(window.start);
    found.push(...await ask(request, terms, window, {}, signal));
    if (terms.prefer === 'soonest' && found.length >= MOST) break;
  }
  const rank = { cheapest: 'cost', fewest_resources: 'resources', soonest: null, same: null }[terms.prefer];
  const by = (offer: Offer): number => Number((rank && offer[rank as 'cost']) ?? 0);
  return found.sort((one, other) => by(one) - by(other)).slice(0, MOST);
}

/** Return a request for what an offer has, such as hosts in the same rack. */
function withRequirements(request: LeaseRequest, { requirements = [] }: Offer): LeaseRequest {
  const parts = request.parts.map((part, number) => ({
    ...part, conditions: requirements.filter(({ reservation }) => reservation === number)
      .reduce((all, { property, values }) => instead(all, property, values), part.conditions),
  }));
  return { ...request, parts };
}

/** Return the periods that are long enough and not over, or why there is none. */
function possible(terms: SearchTerms): { all: Window[]; why: string } {
  const length = terms.number * terms.unit;
  const every = windows(terms, state.zone);
  if (every.length === 0) return { all: [], why: say('daysBad') };
  if (every.every(({ start, end }) => end - start < length)) return { all: [], why: say('tooLong') };
  const all = every.map(({ start, end }) => ({ start: Math.max(start, soonest() + LEAD), end }))
    .filter(({ start, end }) => end - start >= length);
  return all.length ? { all, why: '' } : { all, why: say('daysOver') };
}

export function Finder({ request, busy, take, enter }: FinderProps) {
  const [terms, setTerms] = useState<SearchTerms>(() => ({
    ...lengthOf(request.end - request.start), first: dayOf(request.start, state.zone), last: dayOf(request.start + 6 * DAY, state.zone),
    opens: '', closes: '', prefer: 'soonest', property: '',
  }));
  const [found, setFound] = useState<SearchResult>({ offers: null, progress: '', failure: '' });
  const running = useRef<AbortController | null>(null);
  const held = useHeld(found.offers);
  const stop = (): void => running.current?.abort();
  useEffect(() => stop, []);
  // What was found is for another request. An effect would be after the next frame, and stop what began since.
  useLayoutEffect(() => {
    stop();
    setFound({ offers: null, progress: '', failure: '' });
  }, [JSON.stringify([request.parts, terms])]);
  const failed = (error: unknown): void => {
    if (!(error instanceof Refusal) || error.status === 401) trouble(error);
    if (error instanceof DOMException) return;
    setFound({ offers: null, progress: '', failure: plainly(error, request) });
  };
  const start = (): void => {
    const early = unready(request)?.detail;
    const { all, why } = possible(terms);
    if (early || why) return setFound({ offers: null, progress: '', failure: early || why });
    stop();
    const abort = running.current = new AbortController();
    const searching = (at: number): void => setFound({ offers: null, progress: say('searching', { day: dayName(at) }), failure: '' });
    search(request, terms, all, searching, abort.signal)
      .then((offers) => setFound({ offers, progress: '', failure: '' }), failed);
  };
  enter.current = start;
  const hold = (offer: Offer): void => {
    const window = { start: seconds(offer.start_date), end: seconds(offer.end_date) };
    ask(withRequirements(request, offer), { ...terms, prefer: 'soonest' }, window, { limit: 1, hold: HOLD }).then(([answer]) => {
      const mine = answer && { ...offer, ...answer };
      if (!mine) return setFound({ ...found, failure: say('goneOffer') });
      setFound({ ...found, offers: found.offers!.map((one) => (one === offer ? mine : one)) });
      afterChange();
    }, failed);
  };
  const taken = (offer: Offer): void => {
    held.current = null;
    take(offer);
  };
  return (
    <>
      <SearchForm request={request} terms={terms} set={(change) => setTerms({ ...terms, ...change })} />
      <button type="submit" class="primary wide" disabled={Boolean(found.progress)}>
        {say('search')}
      </button>
      {found.failure && <Note kind="bad">{found.failure}</Note>}
      {found.progress && <Note kind="plain">{found.progress}</Note>}
      {found.offers && (
        <section class="offers" aria-live="polite">
          <h3>{say('times')}</h3>
          {found.offers.length === 0 && <p class="muted">{say('noTime')}</p>}
          {found.offers.map((offer) => (
            <div key={offer.id} class="holdable">
              <OfferButton offer={offer} request={request} busy={busy} take={taken} />
              {!offer.held_until && seconds(offer.start_date) > present() + HOLD + LEAD && (
                <button type="button" class="link" disabled={busy} onClick={() => hold(offer)}
                  aria-label={`${say('holdThis')}: ${moment(seconds(offer.start_date))}`}>
                  {say('holdThis')}
                </button>
              )}
            </div>
          ))}
        </section>
      )}
    </>
  );
}

interface SearchFormProps { request: LeaseRequest; terms: SearchTerms; set: (change: Partial<SearchTerms>) => void }

function SearchForm({ request, terms, set }: SearchFormProps) {
  const text = (key: 'first' | 'last' | 'opens' | 'closes', type: string) => (
    <Field label={say(key)}>
      <input type={type} value={terms[key]} onChange={(event) => set({ [key]: event.currentTarget.value })} />
    </Field>
  );
  return (
    <>
      <LengthFields length={terms} set={set} />
      <div class="twin">{text('first', 'date')}{text('last', 'date')}</div>
      <div class="twin">{text('opens', 'time')}{text('closes', 'time')}</div>
      {(terms.opens || terms.closes) && <p class="help">{say('hoursHelp', { n: MOST_DAYS })}</p>}
      <Field label={say('prefer')}>
        <select value={terms.prefer} onChange={(event) => set({ prefer: event.currentTarget.value as SearchTerms['prefer'] })}>
          {PREFERENCES.map((name) => <option key={name} value={name}>{say(`prefer_${name}`)}</option>)}
        </select>
      </Field>
      {terms.prefer === 'same' && <Same request={request} terms={terms} set={set} />}
    </>
  );
}

/** The property that all resources are to share, such as the rack. */
function Same({ request, terms, set }: SearchFormProps) {
  const type = populationOf(request.parts[0]!.type);
  const [names, setNames] = useState<string[]>([]);
  useEffect(() => {
    knownOf(type).then(({ properties }) => {
      const all = properties.filter(({ own }) => own).map(({ property }) => property);
      setNames(all);
      if (!all.includes(terms.property)) set({ property: all.includes(state.group) ? state.group : all[0] ?? '' });
    }, trouble);
  }, [type]);
  return (
    <Field label={say('property')}>
      <select value={terms.property} onChange={(event) => set({ property: event.currentTarget.value })}>
        {names.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </Field>
  );
}
