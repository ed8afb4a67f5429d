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

/** The form of a new lease, with a verdict while one types, and offers where it does not fit. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal, call, iso, seconds } from '../data/api.ts';
import { afterChange, explain, trouble } from '../data/live.ts';
import { present, state, update } from '../data/state.ts';
import type { Draft } from '../data/state.ts';
import type { Availability, Lease, Offer } from '../data/types.ts';
import { clock, duration, moment, say } from '../words/index.ts';
import { bookable, reservation } from './drafts.ts';
import { Sheet } from './drawer.tsx';
import { Note, TextField, TimeField } from './fields.tsx';

/** `opened` is when the form was. */
interface Wish { start: number; end: number; amount: number; exact: boolean; opened: number }
interface Verdict {
  kind: 'good' | 'bad' | 'plain'; title: string; detail: string; offers: Offer[] | null;
}
/** Seconds that an offer can be held. */
const HOLD = 600;
const LENGTHS = [3600, 14400, 86400, 604800];
const CHECKING: Verdict = { kind: 'plain', title: '', detail: '', offers: null };

function typeNow() {
  return state.types.find((type) => type.name === state.type) ?? { name: state.type };
}

function wanted(draft: Draft, wish: Wish): Record<string, unknown> {
  const type = typeNow();
  const sizes = Object.fromEntries((type.classes ?? []).map((name) => [name, 1]));
  return reservation(type, wish.amount, wish.exact ? draft.names : [], sizes);
}

/** Return the dates of a request. What was to begin soon begins now, however long one thinks. */
function dates(wish: Wish): { start_date: string; end_date: string } {
  const soon = wish.start >= wish.opened - 60 && wish.start <= present() + 60;
  return { start_date: soon ? 'now' : iso(wish.start), end_date: iso(wish.end) };
}

/** Ask whether it fits, and if not, when it does. */
async function judge(draft: Draft, wish: Wish, signal: AbortSignal): Promise<Verdict> {
  const reservations = [wanted(draft, wish)];
  const body = { name: 'x', ...dates(wish), reservations };
  const figures = figure(wish, signal);
  try {
    await call('POST', 'leases', { ...body, dry_run: true }, { signal });
    return { kind: 'good', title: say('canHave'), detail: await figures, offers: null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const lacks = error.body?.error_name === 'NOT_ENOUGH_RESOURCES';
    if (!lacks) return { kind: 'bad', title: '', detail: explain(error), offers: null };
    const wide = { ...wish, exact: false };
    const offers = await offered(wish.exact ? [wanted(draft, wide)] : reservations, wish, signal);
    return { kind: 'bad', title: say('notEnough'), detail: await figures, offers };
  }
}

/** Return in words how many are free in the whole period. */
async function figure(wish: Wish, signal: AbortSignal): Promise<string> {
  const length = wish.end - wish.start;
  try {
    const { body } = await call<{ availability: Availability }>('GET', 'availability', undefined, {
      signal, params: {
        resource_type: state.type, start: iso(wish.start), end: iso(wish.end), step: length,
      },
    });
    const whole = body.availability.groups[0]?.whole;
    const least = (all: number[] | undefined): number => (all?.length ? Math.min(...all) : 0);
    return say('verdict', { free: least(whole?.free), total: least(whole?.total), d: duration(length) });
  } catch {
    return '';
  }
}

async function offered(reservations: unknown[], wish: Wish, signal: AbortSignal): Promise<Offer[]> {
  try {
    return await ask(reservations, wish, {}, signal);
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
}

async function ask(
  reservations: unknown[], wish: Wish, more: { hold?: number }, signal?: AbortSignal,
): Promise<Offer[]> {
  const earliest = iso(Math.max(wish.start, present()));
  const { body } = await call<{ offers: Offer[] }>('POST', 'offers', {
    duration: wish.end - wish.start, earliest, limit: 4, reservations, ...more,
  }, signal ? { signal } : {});
  return body.offers;
}

/** Judge a wish whenever it has not changed for a moment. */
function useVerdict(draft: Draft, wish: Wish): [Verdict, (offers: Offer[]) => void] {
  const [verdict, setVerdict] = useState(CHECKING);
  const signedIn = state.session?.signed_in;
  useEffect(() => {
    if (wish.end <= wish.start) {
      setVerdict({ ...CHECKING, kind: 'bad', detail: say('periodBad') });
      return undefined;
    }
    setVerdict(CHECKING);
    // The form waits for the next session.
    if (!signedIn) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      judge(draft, wish, abort.signal).then(setVerdict, trouble);
    }, 200);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [wish.start, wish.end, wish.amount, wish.exact, signedIn]);
  return [verdict, (offers) => setVerdict({ ...verdict, offers })];
}

/** Release what was held once other offers are shown, or the form is closed. */
function useHeld(offers: Offer[] | null): { current: string | null } {
  const held = useRef<string | null>(null);
  const id = offers?.find((offer) => offer.held_until)?.id ?? null;
  useEffect(() => {
    held.current = id;
    return () => {
      if (!held.current) return;
      void call('DELETE', `offers/${held.current}`).then(afterChange, () => undefined);
      held.current = null;
    };
  }, [id]);
  return held;
}

/** Create a lease, and show it. */
async function create(body: Record<string, unknown>): Promise<string> {
  try {
    const answer = await call<{ lease: Lease }>('POST', 'leases', body);
    const { lease } = answer.body;
    update({ drawer: { kind: 'lease', id: lease.id }, notice: say('reserved', { name: lease.name }) });
    afterChange();
    return '';
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 401) trouble(error);
    return explain(error);
  }
}

export function Form(props: { draft: Draft }) {
  const { draft } = props;
  const [name, setName] = useState('');
  const exact = draft.names.length > 0 && state.type === 'physical:host';
  const [wish, setWish] = useState<Wish>({ ...draft, exact, opened: present() });
  const [failure, setFailure] = useState('');
  const [busy, setBusy] = useState(false);
  const [verdict, setOffers] = useVerdict(draft, wish);
  const set = (change: Partial<Wish>): void => setWish({ ...wish, ...change });
  const title = name.trim() || `${say('lease')} ${moment(wish.start)}`;
  const send = async (body: Record<string, unknown>): Promise<void> => {
    setBusy(true);
    setFailure(await create({ name: title, ...body }));
    setBusy(false);
  };
  const held = useHeld(verdict.offers);
  const hold = (): void => {
    ask([wanted(draft, { ...wish, exact: false })], wish, { hold: HOLD })
      .then((offers) => {
        setOffers(offers);
        afterChange();
      }, (error: unknown) => setFailure(explain(error)));
  };
  const reserve = (event: Event): void => {
    event.preventDefault();
    void send({ ...dates(wish), reservations: [wanted(draft, wish)] });
  };
  if (!bookable(state.type)) return <Sheet title={say('newLease')}><p>{say('unbookable')}</p></Sheet>;
  return (
    <Sheet title={say('newLease')}>
      <form onSubmit={reserve}>
        <TextField label={say('name')} value={name} change={setName} first />
        <Which draft={draft} wish={wish} set={set} />
        <div class="pair">
          <TimeField label={say('from')} value={wish.start}
            change={(start) => set({ start, end: start + (wish.end - wish.start) })} />
          <TimeField label={say('to')} value={wish.end} change={(end) => set({ end })} />
        </div>
        <Lengths wish={wish} set={set} />
        <Judgement verdict={verdict} busy={busy} hold={hold}
          take={(offer) => {
            held.current = null;
            void send({ offer_id: offer.id });
          }} />
        {failure && <Note kind="bad">{failure}</Note>}
        <button type="submit" class="primary wide" disabled={verdict.kind !== 'good' || busy}>
          {say('reserveThese', { n: wish.amount })}
        </button>
      </form>
    </Sheet>
  );
}

interface Part { wish: Wish; set: (change: Partial<Wish>) => void }

/** How many, and which: exactly those that were dragged over, or any. */
function Which({ draft, wish, set }: Part & { draft: Draft }) {
  const names = draft.names.length > 2
    ? `${draft.names[0]} … ${draft.names.at(-1)}` : draft.names.join(', ');
  const choice = (exact: boolean, text: string) => (
    <label class="check">
      <input type="radio" name="which" checked={wish.exact === exact}
        onChange={() => set(exact ? { exact, amount: draft.names.length } : { exact })} />
      {text}
    </label>
  );
  return (
    <>
      {draft.names.length > 0 && state.type === 'physical:host' && (
        <fieldset>
          <legend>{say('which')}</legend>
          {choice(true, say('exactly', { names }))}
          {choice(false, say('any'))}
        </fieldset>
      )}
      <label class="field">
        <span>{say('howMany')}</span>
        <input type="number" min={1} max={wish.exact ? draft.names.length : undefined}
          value={wish.amount} required
          onInput={(event) => {
            const amount = event.currentTarget.valueAsNumber;
            if (amount >= 1) set({ amount });
          }} />
      </label>
    </>
  );
}

function Lengths({ wish, set }: Part) {
  return (
    <div class="segments" role="group" aria-label={say('length')}>
      {LENGTHS.map((length) => (
        <button type="button" key={length} aria-pressed={wish.end - wish.start === length}
          onClick={() => set({ end: wish.start + length })}>
          {duration(length)}
        </button>
      ))}
    </div>
  );
}

interface Choice { verdict: Verdict; take: (offer: Offer) => void; hold: () => void; busy: boolean }

function Judgement(props: Choice) {
  const { verdict } = props;
  const empty = !verdict.title && !verdict.detail;
  return (
    <>
      <Note kind={verdict.kind}>
        {empty ? say('checking') : <><strong>{verdict.title}</strong> {verdict.detail}</>}
      </Note>
      {verdict.offers && <Offers {...props} offers={verdict.offers} />}
    </>
  );
}

function Offers({ offers, take, hold, busy }: Choice & { offers: Offer[] }) {
  const held = offers.some((offer) => offer.held_until);
  return (
    <section class="offers">
      <h3>{say('instead')}</h3>
      {offers.length === 0 && <p class="muted">{say('noOffer')}</p>}
      {offers.map((offer) => {
        const start = seconds(offer.start_date);
        const d = duration(seconds(offer.end_date) - start);
        const until = offer.held_until && say('heldUntil', { end: clock(seconds(offer.held_until)) });
        return (
          <button type="button" key={offer.id} disabled={busy} title={say('takeOffer')}
            onClick={() => take(offer)}>
            <strong>{moment(start)}</strong>
            <span>{say('offerFor', { n: offer.reservations[0]?.amount ?? 1, d })}{until && `, ${until}`}</span>
          </button>
        );
      })}
      {offers.length > 0 && !held && (
        <button type="button" class="link" onClick={hold}>{say('hold')}</button>
      )}
    </section>
  );
}
