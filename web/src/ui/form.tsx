// SPDX-License-Identifier: Apache-2.0

/** The form of a new lease, with a verdict while one types, and what can be had where it does not fit. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal, call } from '../data/api.ts';
import { knownOf, namesFound, usedBefore } from '../data/known.ts';
import { afterChange, explain, trouble } from '../data/live.ts';
import { present, state, update } from '../data/state.ts';
import type { Draft } from '../data/state.ts';
import type { Lease, Offer } from '../data/types.ts';
import { fits, searched } from '../model/requirement.ts';
import type { Condition } from '../model/requirement.ts';
import { say } from '../words/form/index.ts';
import { duration, moment } from '../words/index.ts';
import { Sheet } from './drawer.tsx';
import { Note, TextField, TimeField } from './fields.tsx';
import { later } from './later.tsx';
import { HOLD, OfferButton, useHeld } from './offers.tsx';
import { PartFields } from './part.tsx';
import { bodyOf, conditionFields, dates, firstPart, newPart, soonOf, typeOf } from './parts.ts';
import type { Part, LeaseRequest } from './parts.ts';
import { SoonFields } from './soon.tsx';
import { ask, inWords, plainly, useVerdict } from './verdict.ts';
import type { Option, Verdict } from './verdict.ts';

const LENGTHS = [3600, 14400, 86400, 604800];
const LONGEST_NAME = 80;
const Finder = later(async () => (await import('./finder.tsx')).Finder);

/** Create a lease, and show it; the answer says why that failed. */
async function create(body: Record<string, unknown>, request: LeaseRequest): Promise<string> {
  try {
    const answer = await call<{ lease: Lease }>('POST', 'leases', body);
    const { lease } = answer.body;
    update({ drawer: { kind: 'lease', id: lease.id }, notice: say('reserved', { name: lease.name }) });
    afterChange();
    return '';
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 401) trouble(error);
    return plainly(error, request);
  }
}

/** Return what the search of the calendar means for a reservation; null if it means nothing. */
async function conditionOf(type: string, search: string): Promise<Condition | null> {
  const exact = searched(type, search, { properties: [], traits: [] }, []);
  if (exact) return exact;
  const [known, names] = await Promise.all([knownOf(type), namesFound(type, search)]);
  return searched(type, search, known, names);
}

/** Add what the calendar is filtered by to the first reservation; the answer is null until that is done. */
function useSearched(part: Part, change: (part: Part) => void): { settled: boolean; lost: string } {
  const [search] = useState(conditionFields(typeOf(part.type)).length ? state.search : '');
  const [done, setDone] = useState({ settled: !search, lost: '' });
  useEffect(() => {
    if (!search) return;
    conditionOf(part.type, search).catch(() => null).then((condition) => {
      const conditions = condition ? [...part.conditions, condition] : part.conditions;
      const taken = condition !== null && fits(part.type, conditions);
      if (taken) change({ ...part, conditions });
      setDone({ settled: true, lost: taken ? '' : search });
    }, trouble);
  }, []);
  return done;
}

export function Form({ draft }: { draft: Draft }) {
  const [name, setName] = useState('');
  const [request, setRequest] = useState<LeaseRequest>(() => (
    { start: draft.start, end: draft.end, opened: present(), parts: [firstPart(draft)] }));
  const [failure, setFailure] = useState('');
  const [busy, setBusy] = useState(false);
  const set = (change: Partial<LeaseRequest>): void => setRequest((before) => ({ ...before, ...change }));
  const setPart = (part: Part): void => setRequest((before) => (
    { ...before, parts: before.parts.map((one) => (one.id === part.id ? part : one)) }));
  const { settled, lost } = useSearched(request.parts[0]!, setPart);
  const [finds, setFinds] = useState(false);
  const enter = useRef<(() => void) | null>(null);
  const [verdict, setOffers] = useVerdict(request, settled && !finds);
  // Its start may still move.
  const title = name.trim() || (request.soon ? say('soonName') : `${say('lease')} ${moment(request.start)}`);
  const mode = finds ? 'findTime' : request.soon ? 'soon' : 'atTime';
  const turn = (to: typeof mode): void => {
    setFinds(to === 'findTime');
    if (to !== mode) set({ soon: to === 'soon' ? soonOf(Math.max(request.end - request.start, 60)) : null });
  };
  const send = async (body: Record<string, unknown>): Promise<void> => {
    setBusy(true);
    setFailure(await create({ name: title, ...body }, request));
    setBusy(false);
  };
  const held = useHeld(verdict.offers);
  const take = (offer: Offer): void => {
    held.current = null;
    void send({ offer_id: offer.id });
  };
  const hold = (): void => {
    const any = request.parts.map((part) => ({ ...part, conditions: part.conditions.filter(({ kind }) => kind !== 'names') }));
    ask({ ...request, parts: any }, { hold: HOLD }).then((offers) => {
      setOffers(offers);
      afterChange();
    }, (error: unknown) => setFailure(explain(error)));
  };
  const book = (wanted: LeaseRequest): void =>
    void send({ ...dates(wanted), reservations: wanted.parts.map(bodyOf) });
  return (
    <Sheet title={say('newLease')}>
      <form onSubmit={(event) => {
        event.preventDefault();
        if (finds) enter.current?.();
        else if (verdict.kind === 'good') book(request);
      }}>
        <TextField label={say('name')} value={name} change={setName} first longest={LONGEST_NAME}
          note={name.length >= LONGEST_NAME ? say('nameLong') : ''} />
        <Parts request={request} set={set} change={setPart} />
        {lost && <Note kind="plain">{say('searchLost', { text: lost })}</Note>}
        <div class="segments when" role="group" aria-label={say('when')}>
          {(['atTime', 'soon', 'findTime'] as const).map((one) => (
            <button type="button" key={one} aria-pressed={mode === one} onClick={() => turn(one)}>
              {say(one)}
            </button>
          ))}
        </div>
        <p class="muted zone">{say('zone', { zone: state.zone })}</p>
        {finds
          ? <Finder request={request} busy={busy} take={take} enter={enter} />
          : request.soon
            ? <SoonFields soon={request.soon} set={(soon) => set({ soon })} />
            : <Period request={request} set={set} />}
        {!finds && <VerdictChoice verdict={verdict} busy={busy} hold={hold} book={book} request={request} take={take} />}
        {failure && <Note kind="bad">{failure}</Note>}
        {!finds && (
          <button type="submit" class="primary wide" disabled={verdict.kind !== 'good' || busy}>
            {request.parts.length > 1 ? say('reserve') : say('reserveThese', { things: inWords(request) })}
          </button>
        )}
      </form>
    </Sheet>
  );
}

interface RequestProps { request: LeaseRequest; set: (change: Partial<LeaseRequest>) => void }

/** The reservations of the lease: often one, each with a frame of its own if there are several. */
function Parts({ request, set, change }: RequestProps & { change: (part: Part) => void }) {
  const [used, setUsed] = useState(new Map<string, string[]>());
  const last = useRef<HTMLFieldSetElement>(null);
  const more = useRef<HTMLButtonElement>(null);
  const added = useRef(false);
  useEffect(() => void usedBefore().then(setUsed, trouble), []);
  useEffect(() => {
    if (added.current) last.current?.querySelector('select')?.focus();
    added.current = false;
  }, [request.parts.length]);
  const several = request.parts.length > 1;
  return (
    <>
      {request.parts.map((part, number) => (several ? (
        <fieldset key={part.id} class="part" ref={last}>
          <legend>{say('partOf', { n: number + 1 })}</legend>
          <PartFields part={part} change={change} used={used} />
          <button type="button" class="link" aria-label={`${say('remove')}: ${say('partOf', { n: number + 1 })}`}
            onClick={() => {
              more.current?.focus();
              set({ parts: request.parts.filter((one) => one !== part) });
            }}>
            {say('remove')}
          </button>
        </fieldset>
      ) : <PartFields key={part.id} part={part} change={change} used={used} />))}
      <button type="button" class="link" ref={more} onClick={() => {
        added.current = true;
        set({ parts: [...request.parts, newPart(state.type)] });
      }}>
        {say('another')}
      </button>
    </>
  );
}

function Period({ request, set }: RequestProps) {
  return (
    <>
      <div class="pair">
        <TimeField label={say('from')} value={request.start}
          change={(start) => set({ start, end: start + (request.end - request.start) })} />
        <TimeField label={say('to')} value={request.end} change={(end) => set({ end })} />
      </div>
      <div class="segments" role="group" aria-label={say('length')}>
        {LENGTHS.map((length) => (
          <button type="button" key={length} aria-pressed={request.end - request.start === length}
            onClick={() => set({ end: request.start + length })}>
            {duration(length)}
          </button>
        ))}
      </div>
    </>
  );
}

interface Choice {
  request: LeaseRequest; verdict: Verdict; busy: boolean;
  take: (offer: Offer) => void; hold: () => void; book: (request: LeaseRequest) => void;
}

function VerdictChoice(props: Choice) {
  const { verdict } = props;
  const empty = !verdict.title && !verdict.detail;
  return (
    <>
      <Note kind={verdict.kind}>
        {empty ? say('checking') : <>{verdict.title && <strong>{verdict.title}</strong>} {verdict.detail}</>}
      </Note>
      {verdict.offers && <Instead {...props} offers={verdict.offers} options={verdict.options} />}
    </>
  );
}

/** What can be had in place of what was wished for; a click takes it. */
function Instead({ options, offers, request, take, hold, book, busy }: Choice & { offers: Offer[]; options: Option[] }) {
  const held = offers.some((offer) => offer.held_until);
  return (
    <section class="offers">
      <h3>{say('instead')}</h3>
      {options.length + offers.length === 0 && <p class="muted">{say('noOffer')}</p>}
      {options.map((option) => (
        <button type="button" key={option.text} disabled={busy} title={say('takeThis')} onClick={() => book(option.request)}>
          <strong>{option.text}</strong><span>{option.detail}</span>
        </button>
      ))}
      {offers.map((offer) => <OfferButton key={offer.id} offer={offer} request={request} busy={busy} take={take} />)}
      {offers.length > 0 && !held && (
        <button type="button" class="link" onClick={hold}>{say('hold')}</button>
      )}
    </section>
  );
}
