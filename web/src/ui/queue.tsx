// SPDX-License-Identifier: Apache-2.0

/** Leases that wait for room: their place in the queue, and when they may begin as it looks now. */
import { useEffect, useState } from 'preact/hooks';
import { get, seconds } from '../data/api.ts';
import { onTurn, trouble } from '../data/live.ts';
import { update, useChanges } from '../data/state.ts';
import type { Lease, Queued } from '../data/types.ts';
import { moment } from '../words/index.ts';
import { say } from '../words/lease/index.ts';
import { number } from './things.ts';

interface Answer { queue: Queued[] }

const may = (lease: Lease): boolean => lease.earliest !== null && ['PENDING', 'WAITING'].includes(lease.status);

/** Return what is in the queue of a lease; null if it is in none. */
export async function placeOf(lease: Lease): Promise<Queued | null> {
  if (!may(lease)) return null;
  return get<Answer>('queue', { lease_id: lease.id }).then(({ queue }) => queue[0] ?? null, () => null);
}

/** Return when a lease may begin, in words. */
export function forecastOf({ forecast, room_at }: Queued): string {
  if (forecast) return moment(seconds(forecast));
  return room_at ? say('roomAt', { time: moment(seconds(room_at)) }) : say('noRoom');
}

/** Return what is missing at the earliest start, and until when. */
export function missingOf({ waits_for }: Queued): string {
  return waits_for.map(({ resource_type, resource_class, missing, until }) => {
    const what = resource_class ? `${missing} ${resource_class}` : number(resource_type, missing);
    return until ? say('missingUntil', { what, time: moment(seconds(until)) }) : what;
  }).join(', ');
}

const COLUMNS = ['name', 'place', 'forecast', 'waitsFor'] as const;

/** The leases that wait; nothing if there are none. */
export function Queue() {
  const { notice, me } = useChanges();
  const [found, setFound] = useState<Queued[]>([]);
  const load = (): void => void get<Answer>('queue').then(
    ({ queue }) => setFound(queue.filter(({ status }) => status === 'WAITING')), trouble);
  useEffect(load, [notice, me?.project_id]);
  useEffect(() => onTurn(load), []);
  if (found.length === 0) return null;
  return (
    <section>
      <h2>{say('queue')}</h2>
      <div class="panel table-box" tabIndex={0} role="region" aria-label={say('queue')}>
        <table class="table cards queue" role="table">
          <thead role="rowgroup">
            <tr role="row">{COLUMNS.map((key) => <th scope="col" role="columnheader" key={key}>{say(key)}</th>)}</tr>
          </thead>
          <tbody role="rowgroup">{found.map((one) => <Row key={one.lease_id} one={one} />)}</tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ one }: { one: Queued }) {
  const texts = [String(one.place), forecastOf(one), missingOf(one)];
  return (
    <tr role="row">
      <th scope="row" role="rowheader">
        <button type="button" class="link" onClick={() => update({ drawer: { kind: 'lease', id: one.lease_id } })}>
          {one.name}
        </button>
      </th>
      {texts.map((text, n) => <td role="cell" key={n} data-label={say(COLUMNS[n + 1]!)}>{text}</td>)}
    </tr>
  );
}
