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
import { explain, onTurn, refresh, trouble } from '../data/live.ts';
import { present, state, update } from '../data/state.ts';
import type { History, Lease } from '../data/types.ts';
import { duration, moment, say, sayOf } from '../words/index.ts';
import { Sheet } from './drawer.tsx';
import { Loading, Note, TimeField } from './fields.tsx';

const OVER = new Set(['TERMINATED', 'DELETED']);

export const Badge = ({ status }: { status: string }) =>
  <span class={`badge ${status.toLowerCase()}`}>{status}</span>;

interface Found { lease: Lease; history: History | null; has: string[] }

async function fetched(id: string): Promise<Found> {
  const path = `leases/${encodeURIComponent(id)}`;
  const [{ lease }, answer] = await Promise.all([
    get<{ lease: Lease }>(path),
    get<{ history: History }>(`${path}/history`).catch(() => null),
  ]);
  return { lease, history: answer?.history ?? null, has: await names(lease) };
}

/** Return the names of the hosts of a lease, where the caller can list them. */
async function names(lease: Lease): Promise<string[]> {
  const hosts = lease.reservations.some((one) => one.resource_type === 'physical:host');
  if (!hosts || !state.me?.may['hosts:show'] || !state.me.may['allocations:list']) return [];
  try {
    const { allocations } = await get<{ allocations: { resource_id: string; reservations: unknown[] }[] }>(
      'os-hosts/allocations', { lease_id: lease.id });
    const ids = allocations.filter((one) => one.reservations.length > 0)
      .map((one) => one.resource_id).slice(0, 12);
    const found = await Promise.all(ids.map((id) =>
      get<{ host: { hypervisor_hostname: string } }>(`os-hosts/${id}`)));
    return found.map(({ host }) => host.hypervisor_hostname);
  } catch {
    return [];
  }
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
      {!OVER.has(lease.status) && <Actions lease={lease} changed={load} />}
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
    [say('has'), has.length ? has.join(', ') : types],
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

function Actions({ lease, changed }: { lease: Lease; changed: () => void }) {
  const [act, setAct] = useState<Act | null>(null);
  const [failure, setFailure] = useState('');
  const done = async (work: () => Promise<unknown>, notice: string): Promise<void> => {
    try {
      await work();
      setFailure('');
      setAct(null);
      update({ notice, ...(act === 'delete' ? { drawer: null } : {}) });
      refresh();
      if (act !== 'delete') changed();
    } catch (error) {
      if (!(error instanceof Refusal) || error.status === 401) trouble(error);
      setFailure(explain(error));
    }
  };
  const possible = (Object.keys(RULES) as Act[]).filter((one) => state.me?.may[RULES[one]]
    // The form does not ask yet which resource is to be replaced, as the API wants.
    && one !== 'reallocate');
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
      {act && <ActForm key={act} act={act} lease={lease} done={done} cancel={() => setAct(null)} />}
      {failure && <Note kind="bad">{failure}</Note>}
    </>
  );
}

interface ActProps {
  act: Act; lease: Lease; cancel: () => void;
  done: (work: () => Promise<unknown>, notice: string) => Promise<void>;
}

function ActForm(props: ActProps) {
  const { act, lease, done, cancel } = props;
  const path = `leases/${encodeURIComponent(lease.id)}`;
  const { name } = lease;
  if (act === 'extend' || act === 'shorten') return <NewEnd {...props} />;
  const remove = act === 'delete';
  const work = (): Promise<void> => remove
    ? done(() => call('DELETE', path), say('deleted', { name }))
    : done(async () => {
      for (const { id } of lease.reservations) {
        await call('POST', `${path}/reallocate`, { reservation_id: id, reason: 'asked for in the page' });
      }
    }, say('moved', { name }));
  return (
    <div class="ask">
      {remove && <p>{say('deleteAsk')}</p>}
      <div class="actions">
        <button type="button" class={remove ? 'danger full' : 'primary'} onClick={() => void work()}>
          {say(remove ? 'deleteNow' : 'reallocateNow')}
        </button>
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
      .then(({ extension }) => setMost(seconds(extension.end_date)), () => setMost(0));
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
        <button type="submit" class="primary">{say('save')}</button>
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
