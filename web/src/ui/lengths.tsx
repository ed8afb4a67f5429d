// SPDX-License-Identifier: Apache-2.0

/** A length of time, as a number and a unit. */
import { say } from '../words/form/index.ts';
import { Field } from './fields.tsx';

const DAY = 86400;
const UNITS = [[60, 'minutes'], [3600, 'hours'], [DAY, 'days']] as const;

export interface Length { number: number; unit: number }

/** Return a length in the largest unit of which it has a whole number. */
export function lengthOf(seconds: number): Length {
  const unit = seconds % DAY ? seconds % 3600 ? 60 : 3600 : DAY;
  return { number: Math.round(seconds / unit), unit };
}

export function LengthFields({ length, set }: { length: Length; set: (change: Partial<Length>) => void }) {
  return (
    <div class="twin">
      <Field label={say('howLong')}>
        <input type="number" min={1} required value={length.number} onInput={(event) => {
          const number = event.currentTarget.valueAsNumber;
          if (number >= 1) set({ number });
        }} />
      </Field>
      <Field label={say('unit')}>
        <select value={length.unit} onChange={(event) => set({ unit: Number(event.currentTarget.value) })}>
          {UNITS.map(([seconds, name]) => <option key={name} value={seconds}>{say(name)}</option>)}
        </select>
      </Field>
    </div>
  );
}
