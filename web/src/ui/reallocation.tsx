// SPDX-License-Identifier: Apache-2.0

/** Operators replace a resource of a lease with one that the service chooses. */
import { useState } from 'preact/hooks';
import { call } from '../data/api.ts';
import { state } from '../data/state.ts';
import type { Held, Lease } from '../data/types.ts';
import { plainName } from '../model/names.ts';
import { say } from '../words/lease/index.ts';
import type { ActProps } from './act.ts';
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
    if (held) void done(() => replace(lease, held, reason.trim()), say('moved', { name: plainName(held.name) }));
  };
  return (
    <form class="ask" onSubmit={send}>
      <Field label={say('replaced')}>
        <select value={held?.id} onChange={(event) => setChosen(event.currentTarget.value)}>
          {has.map((one) => <option key={one.id} value={one.id}>{plainName(one.name)}</option>)}
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
