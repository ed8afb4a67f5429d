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

/** A lease: how long it still is, what it has, what one can do, what happened and what will. */
import { useEffect, useState } from 'preact/hooks';
import { Refusal, call, get, iso, seconds } from '../data/api.ts';
import { afterChange, explain, onTurn, trouble } from '../data/live.ts';
import { present, state, update } from '../data/state.ts';
import type { History, Lease } from '../data/types.ts';
import { duration, moment, say, sayOf } from '../words/index.ts';
import { Sheet } from './drawer.tsx';
import { CalendarLink } from './feed.tsx';
import { Loading, Note, TimeField } from './fields.tsx';
import { Reallocation, namesOf, resourcesOf } from './reallocation.tsx';
import type { Held } from './reallocation.tsx';

const OVER = new Set(['TERMINATED', 'DELETED']);

export const Badge = ({ status }: { status: string }) =>
  <span class={`badge ${status.toLowerCase()}`}>{status}</span>;

interface Found { lease: Lease; history: History | null; has: Held[] }

async function fetched(id: string): Promise<Found> {
  const path = `leases/${encodeURIComponent(id)}`;
  const [{ lease }, answer] = await Promise.all([
    get<{ lease: Lease }>(path),
    get<{ history: History }>(`${path}/history`).catch(() => null),
  ]);
  return { lease, history: answer?.history ?? null, has: await resourcesOf(lease) };
}

export function LeaseDetails({ id }: { id: string }) {
  const [found, setFound] = useState<Found | null>(null);
  const [failure, setFailure] = useState('');
  const load = (): void => void fetched(id).then(setFound, (error: unknown) => {
    if (!(error instanceof Refusal) || error.status !== 404) return trouble(error);
    setFailure(explain(error));
    setFound(null);
  });
  useEffect(() => {
    load();
    return onTurn(load);
  }, [id]);
  if (!found) {
    return <Sheet title={say('lease')}>{failure ? <Note kind="bad">{failure}</Note> : <Loading />}</Sheet>;
  }
  const { lease, history } = found;
  return (
    <Sheet title={lease.name} badge={<Badge status={lease.status} />}>
      <Countdown lease={lease} />
      <Facts found={found} />
      {!OVER.has(lease.status) && <Actions found={found} changed={load} />}
      {state.me?.may['feeds:create'] && <CalendarLink lease={lease} />}
      {history && <Steps history={history} />}
    </Sheet>
  );
}

function Countdown({ lease }: { lease: Lease }) {
  const [start, end, now] = [seconds(lease.start_date), seconds(lease.end_date), present()];
  const over = now >= end || OVER.has(lease.status);
  const share = over ? 1 : Math.max(0, (now - start) / (end - start));
  return (
    <>
      <p class="countdown">
        {!over && <strong>{duration((now < start ? start : end) - now)}</strong>}{' '}
        {say(over ? 'over' : now < start ? 'untilStart' : 'untilEnd')}
      </p>
      <progress max={1} value={share} aria-label={say('length')} />
    </>
  );
}

function Facts({ found }: { found: Found }) {
  const { lease, has } = found;
  const [start, end] = [seconds(lease.start_date), seconds(lease.end_date)];
  const types = lease.reservations.map((one) => one.resource_type).join(', ');
  const facts = [
    [say('start'), moment(start)], [say('end'), moment(end)], [say('length'), duration(end - start)],
    [say('has'), has.length ? namesOf(has) : types],
    ...(state.me?.admin ? [[say('project'), lease.project_id]] : []),
  ] as [string, string][];
  return <FactList facts={facts} />;
}

export function FactList({ facts }: { facts: [string, string][] }) {
  return (
    <dl class="facts">
      {facts.map(([term, text]) => <div key={term}><dt>{term}</dt><dd>{text}</dd></div>)}
    </dl>
  );
}

type Act = 'extend' | 'shorten' | 'delete' | 'reallocate';
const RULES: Record<Act, string> = {
  extend: 'leases:update', shorten: 'leases:update', delete: 'leases:delete',
  reallocate: 'leases:reallocate',
};

function Actions({ found, changed }: { found: Found; changed: () => void }) {
  const { lease, has } = found;
  const [act, setAct] = useState<Act | null>(null);
  const [failure, setFailure] = useState('');
  const done = async (work: () => Promise<unknown>, notice: string): Promise<void> => {
    try {
      await work();
      setFailure('');
      setAct(null);
      update({ notice, ...(act === 'delete' ? { drawer: null } : {}) });
      afterChange();
      if (act !== 'delete') changed();
    } catch (error) {
      if (!(error instanceof Refusal) || error.status === 401) trouble(error);
      setFailure(explain(error));
    }
  };
  const possible = (Object.keys(RULES) as Act[]).filter((one) => state.me?.may[RULES[one]]
    && (one !== 'reallocate' || has.length > 0));
  return (
    <>
      <div class="actions">
        {possible.map((one) => (
          <button type="button" key={one} class={one === 'delete' ? 'danger' : ''}
            aria-expanded={act === one} onClick={() => {
              setFailure('');
              setAct(act === one ? null : one);
            }}>
            {say(one)}
          </button>
        ))}
      </div>
      {act && <ActForm key={act} act={act} lease={lease} has={has} done={done} cancel={() => setAct(null)} />}
      {failure && <Note kind="bad">{failure}</Note>}
    </>
  );
}

export interface ActProps {
  act: Act; lease: Lease; has: Held[]; cancel: () => void;
  done: (work: () => Promise<unknown>, notice: string) => Promise<void>;
}

function ActForm(props: ActProps) {
  const { act, lease, done, cancel } = props;
  if (act === 'extend' || act === 'shorten') return <NewEnd {...props} />;
  if (act === 'reallocate') return <Reallocation {...props} />;
  const remove = (): void => void done(
    () => call('DELETE', `leases/${encodeURIComponent(lease.id)}`), say('deleted', { name: lease.name }));
  return (
    <div class="ask">
      <p>{say('deleteAsk')}</p>
      <div class="actions">
        <button type="button" class="danger full" onClick={remove}>{say('deleteNow')}</button>
        <button type="button" onClick={cancel}>{say('cancel')}</button>
      </div>
    </div>
  );
}

/** A new end; how late it can be is asked of the service. */
function NewEnd({ act, lease, done, cancel }: ActProps) {
  const [start, end] = [seconds(lease.start_date), seconds(lease.end_date)];
  const half = Math.max(start, present()) + (end - Math.max(start, present())) / 2;
  const [wanted, setWanted] = useState(act === 'extend' ? end + 3600 : Math.ceil(half / 300) * 300);
  const [most, setMost] = useState(0);
  const path = `leases/${encodeURIComponent(lease.id)}`;
  useEffect(() => {
    if (act !== 'extend') return;
    get<{ extension: { end_date: string } }>(`${path}/extension`)
      .then(({ extension }) => {
        const latest = seconds(extension.end_date);
        setMost(latest);
        if (latest > end) setWanted((one) => Math.min(one, latest));
      }, () => setMost(0));
  }, []);
  const send = (event: Event): void => {
    event.preventDefault();
    void done(() => call('PUT', path, { end_date: iso(wanted) }),
      say('changed', { name: lease.name, end: moment(wanted) }));
  };
  return (
    <form class="ask" onSubmit={send}>
      <TimeField label={say('newEnd')} value={wanted} change={setWanted} />
      {most > 0 && <p class="muted">{say('atMost', { end: moment(most) })}</p>}
      <div class="actions">
        <button type="submit" class="primary" disabled={most > 0 && wanted > most}>{say('save')}</button>
        <button type="button" onClick={cancel}>{say('cancel')}</button>
      </div>
    </form>
  );
}

function Steps({ history }: { history: History }) {
  return (
    <section>
      <h3>{say('history')}</h3>
      <ol class="steps">
        {history.steps.map((step, number) => (
          <li key={number} class={step.state}>
            <time>{moment(seconds(step.first_at))}</time>
            <span>{sayOf('effect', step.effect)}{step.error && <small>{step.error}</small>}</span>
            <em>{sayOf('state', step.state)}</em>
          </li>
        ))}
        {history.awaited.map((event, number) => (
          <li key={`a${number}`}>
            <time>{moment(seconds(event.time))}</time>
            <span>{sayOf('event', event.event_type)}{event.why && <small>{event.why}</small>}</span>
            <em>{say('awaited')}</em>
          </li>
        ))}
      </ol>
    </section>
  );
}
