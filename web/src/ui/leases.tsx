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

/** The leases of the caller, by pages. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, seconds } from '../data/api.ts';
import { onTurn, trouble } from '../data/live.ts';
import { state, update, useChanges } from '../data/state.ts';
import type { Lease } from '../data/types.ts';
import { duration, moment, say } from '../words/index.ts';
import { CalendarLink } from './feed.tsx';
import { Loading } from './fields.tsx';
import { Badge } from './lease.tsx';

const PAGE = 25;
interface Answer { leases: Lease[]; leases_links?: unknown[] }

export function Leases() {
  const { notice } = useChanges();
  const [leases, setLeases] = useState<Lease[] | null>(null);
  const [more, setMore] = useState(false);
  const load = (marker: string): void => {
    const before = marker ? leases ?? [] : [];
    get<Answer>('leases', { limit: PAGE, marker }).then((answer) => {
      setLeases([...before, ...answer.leases]);
      setMore(Boolean(answer.leases_links));
    }, trouble);
  };
  // A notice says that a lease was made, changed or deleted.
  useEffect(() => load(''), [notice]);
  // Another tab or person does so without one. Pages that were asked for stay.
  const turned = useRef(load);
  turned.current = (marker) => (leases?.length ?? 0) <= PAGE && load(marker);
  useEffect(() => onTurn(() => turned.current('')), []);
  return (
    <div class="page">
      <div class="page-head">
        <h1>{say('leases')}</h1>
        {state.me?.may['feeds:create'] && <CalendarLink />}
      </div>
      {!leases && <Loading />}
      {leases?.length === 0 && <p class="empty panel">{say('noLeases')}</p>}
      {leases && leases.length > 0 && <Table leases={leases} />}
      {more && (
        <button type="button" class="more" onClick={() => load(leases?.at(-1)?.id ?? '')}>{say('more')}</button>
      )}
    </div>
  );
}

function Table({ leases }: { leases: Lease[] }) {
  return (
    <div class="panel table-box" tabIndex={0} role="region" aria-label={say('leases')}>
      <table class="table">
        <thead>
          <tr>{(['name', 'status', 'start', 'end', 'length', 'has'] as const).map((key) =>
            <th scope="col" key={key}>{say(key)}</th>)}</tr>
        </thead>
        <tbody>{leases.map((lease) => <Row key={lease.id} lease={lease} />)}</tbody>
      </table>
    </div>
  );
}

function Row({ lease }: { lease: Lease }) {
  const [start, end] = [seconds(lease.start_date), seconds(lease.end_date)];
  const chosen = state.drawer?.kind === 'lease' && state.drawer.id === lease.id;
  return (
    <tr class={chosen ? 'chosen' : ''}>
      <th scope="row">
        <button type="button" class="link" onClick={() => update({ drawer: { kind: 'lease', id: lease.id } })}>
          {lease.name}
        </button>
      </th>
      <td><Badge status={lease.status} /></td>
      <td>{moment(start)}</td>
      <td>{moment(end)}</td>
      <td>{duration(end - start)}</td>
      <td>{[...new Set(lease.reservations.map((one) => one.resource_type))].join(', ')}</td>
    </tr>
  );
}
