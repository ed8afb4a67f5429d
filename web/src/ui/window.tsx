// SPDX-License-Identifier: Apache-2.0

/** Another window or length for a flexible lease, which the service then books again. */
import { useState } from 'preact/hooks';
import { call, iso, seconds } from '../data/api.ts';
import { state } from '../data/state.ts';
import { fromInput, toInput } from '../model/zones.ts';
import { say } from '../words/lease/index.ts';
import type { ActProps } from './act.ts';
import { Field, TimeField } from './fields.tsx';
import { LengthFields, lengthOf } from './lengths.tsx';
import { pathOf } from './proposals.ts';

export function WindowForm({ lease, done, cancel }: ActProps) {
  const was = seconds(lease.end_date) - seconds(lease.start_date);
  const [length, setLength] = useState(() => lengthOf(was));
  const [earliest, setEarliest] = useState(() => seconds(lease.earliest!));
  const [latest, setLatest] = useState(() => (lease.latest ? seconds(lease.latest) : null));
  const change = {
    ...(length.number * length.unit === was ? {} : { duration: length.number * length.unit }),
    ...(earliest === seconds(lease.earliest!) ? {} : { earliest: iso(earliest) }),
    ...(latest === (lease.latest ? seconds(lease.latest) : null) ? {} : { latest: latest === null ? null : iso(latest) }),
  };
  const send = (event: Event): void => {
    event.preventDefault();
    void done(() => call('PUT', pathOf(lease), change), say('saved', { name: lease.name }));
  };
  return (
    <form class="ask" onSubmit={send}>
      <p class="muted">{say(lease.status === 'WAITING' ? 'windowWaits' : 'windowHelp')}</p>
      <LengthFields length={length} set={(changed) => setLength({ ...length, ...changed })} />
      <TimeField label={say('notBefore')} value={earliest} change={setEarliest} />
      <Field label={say('by')}>
        <input type="datetime-local" value={latest === null ? '' : toInput(latest, state.zone)}
          onChange={(event) => {
            const at = fromInput(event.currentTarget.value, state.zone);
            setLatest(Number.isNaN(at) ? null : at);
          }} />
      </Field>
      <div class="actions">
        <button type="submit" class="primary" disabled={Object.keys(change).length === 0}>{say('save')}</button>
        <button type="button" onClick={cancel}>{say('cancel')}</button>
      </div>
    </form>
  );
}
