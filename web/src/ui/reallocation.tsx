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

/** The resources of a lease; operators replace one of them. */
import { useState } from 'preact/hooks';
import { call, get, iso, seconds } from '../data/api.ts';
import { state } from '../data/state.ts';
import type { Lease } from '../data/types.ts';
import type { CalendarAnswer } from '../model/columns.ts';
import { say } from '../words/index.ts';
import { Field, TextField } from './fields.tsx';
import type { ActProps } from './lease.tsx';

/** A resource that a lease has. */
export interface Held { id: number; name: string; type: string }
const MOST_NAMES = 12;
const LONGEST = 399 * 86400;

/** Return the type of the resources that reservations of a type are on. */
function ownerOf(type: string): string {
  if (type === 'virtual:volume') return 'physical:storage';
  if (type === 'virtual:floatingip') return type;
  return /^(virtual|flavor):/.test(type) ? 'physical:host' : type;
}

/** Return what a lease has, or had; nothing of types without resources. */
export async function resourcesOf(lease: Lease): Promise<Held[]> {
  const types = [...new Set(lease.reservations.map((one) => ownerOf(one.resource_type)))];
  const [start, end] = [Math.floor(seconds(lease.start_date)), Math.ceil(seconds(lease.end_date))];
  const params = { lease_id: lease.id, start: iso(start), end: iso(Math.min(end, start + LONGEST)) };
  const found = await Promise.all(types.map((type) =>
    get<{ calendar: CalendarAnswer }>('calendar', { ...params, resource_type: type })
      .then(({ calendar: { resources } }) =>
        resources.id.map((id, n) => ({ id, name: resources.name[n]!, type })), () => [])));
  return found.flat();
}

/** Return the names of resources, not too many. */
export function namesOf(has: Held[]): string {
  const names = has.slice(0, MOST_NAMES).map((one) => one.name).join(', ');
  return has.length > MOST_NAMES ? `${names} … (${has.length})` : names;
}

interface Allocations { allocation: { reservations: { id: string; lease_id: string }[] } }

/** Replace a resource of a lease with one that the service chooses. */
async function replace(lease: Lease, held: Held, reason: string): Promise<void> {
  const { allocation } = await get<Allocations>(
    `resources/${held.id}/allocations`, { lease_id: lease.id });
  const reservation = allocation.reservations.find((one) => one.lease_id === lease.id);
  await call('POST', `leases/${encodeURIComponent(lease.id)}/reallocate`, {
    reservation_id: reservation?.id ?? lease.reservations[0]!.id, resource_id: String(held.id),
    ...(reason ? { reason } : {}),
  });
}

/** Ask which resource is to be replaced, and why. */
export function Reallocation({ lease, has, done, cancel }: ActProps) {
  const [chosen, setChosen] = useState(has[0]!.id);
  const [reason, setReason] = useState('');
  // The resources may have changed since the form was opened.
  const held = has.find((one) => one.id === chosen) ?? has[0]!;
  const send = (event: Event): void => {
    event.preventDefault();
    void done(() => replace(lease, held, reason.trim()), say('moved', { name: held.name }));
  };
  return (
    <form class="ask" onSubmit={send}>
      <Field label={say('replaced')}>
        <select value={held.id} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
          {has.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}
        </select>
      </Field>
      <TextField label={say('reason')} value={reason} change={setReason} />
      {lease.status !== 'PENDING' && <p class="muted">{say('reallocateRunning')}</p>}
      <div class="actions">
        <button type="submit" class="primary" disabled={!state.me?.may['leases:reallocate']}>
          {say('reallocateNow')}
        </button>
        <button type="button" onClick={cancel}>{say('cancel')}</button>
      </div>
    </form>
  );
}
