// SPDX-License-Identifier: Apache-2.0

/** The times of a lease that begins as soon as there is room for it. */
import { useState } from 'preact/hooks';
import { state } from '../data/state.ts';
import { fromInput } from '../model/zones.ts';
import { say } from '../words/form/index.ts';
import { Field } from './fields.tsx';
import { LengthFields, lengthOf } from './lengths.tsx';
import type { Soon } from './parts.ts';

export function SoonFields({ soon, set }: { soon: Soon; set: (soon: Soon) => void }) {
  const [length, setLength] = useState(() => lengthOf(soon.length));
  // Without a time there is no limit.
  const limit = (key: 'earliest' | 'latest') => (
    <Field label={say('optional', { label: say(key) })}>
      <input type="datetime-local" onChange={(event) => {
        const at = fromInput(event.currentTarget.value, state.zone);
        set({ ...soon, [key]: Number.isNaN(at) ? null : at });
      }} />
    </Field>
  );
  return (
    <>
      <p class="help">{say('soonHelp')}</p>
      <LengthFields length={length} set={(change) => {
        const wanted = { ...length, ...change };
        setLength(wanted);
        set({ ...soon, length: wanted.number * wanted.unit });
      }} />
      <div class="pair">{limit('earliest')}{limit('latest')}</div>
      <label class="check">
        <input type="checkbox" checked={soon.waits} onChange={() => set({ ...soon, waits: !soon.waits })} />
        {say('waitForRoom')}
      </label>
      <label class="check">
        <input type="checkbox" checked={soon.yields !== null}
          onChange={() => set({ ...soon, yields: soon.yields === null ? '' : null })} />
        {say('preemptible')}
      </label>
      {soon.yields !== null && <Yields value={soon.yields} set={(yields) => set({ ...soon, yields })} />}
    </>
  );
}

const MODES = ['', 'suspend', 'requeue', 'end'] as const;

/** What becomes of the lease when others need its place. */
function Yields({ value, set }: { value: string; set: (value: string) => void }) {
  const mode = MODES.find((one) => one === value) ?? '';
  return (
    <>
      <Field label={say('yields')}>
        <select value={value} onChange={(event) => set(event.currentTarget.value)}>
          {MODES.map((one) => <option key={one} value={one}>{say(`yield_${one}`)}</option>)}
        </select>
      </Field>
      <p class="help">{say(`yieldHelp_${mode}`)}</p>
    </>
  );
}
