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

/** Operators replace a resource of a lease with one that the service chooses. */
import { useState } from 'preact/hooks';
import { call } from '../data/api.ts';
import { state } from '../data/state.ts';
import type { Held, Lease } from '../data/types.ts';
import { say } from '../words/lease/index.ts';
import type { ActProps } from './acts.tsx';
import { Field, TextField } from './fields.tsx';
import { pathOf } from './proposals.ts';
import { heldBy } from './things.ts';

function replace(lease: Lease, { id }: Held, reason: string): Promise<unknown> {
  const reservation = lease.reservations.find((one) => one.resources?.some((held) => held.id === id))!;
  return call('POST', `${pathOf(lease)}/reallocate`, {
    reservation_id: reservation.id, resource_id: id, ...(reason ? { reason } : {}),
  });
}

/** Ask which resource is to be replaced, and why. */
export function Reallocation({ lease, done, cancel }: ActProps) {
  const has = heldBy(lease);
  const [chosen, setChosen] = useState(has[0]?.id ?? '');
  const [reason, setReason] = useState('');
  // The resources may have changed since the form was opened.
  const held = has.find((one) => one.id === chosen) ?? has[0];
  const send = (event: Event): void => {
    event.preventDefault();
    if (held) void done(() => replace(lease, held, reason.trim()), say('moved', { name: held.name }));
  };
  return (
    <form class="ask" onSubmit={send}>
      <Field label={say('replaced')}>
        <select value={held?.id} onChange={(event) => setChosen(event.currentTarget.value)}>
          {has.map((one) => <option key={one.id} value={one.id}>{one.name}</option>)}
        </select>
      </Field>
      <TextField label={say('reason')} value={reason} change={setReason} />
      {lease.status !== 'PENDING' && <p class="muted">{say('reallocateRunning')}</p>}
      <div class="actions">
        <button type="submit" class="primary" disabled={!held || !state.me?.may['leases:reallocate']}>
          {say('reallocateNow')}
        </button>
        <button type="button" onClick={cancel}>{say('cancel')}</button>
      </div>
    </form>
  );
}
