// SPDX-License-Identifier: Apache-2.0

/** More or fewer resources for a lease, or others; the service says whether it can. */
import { useState } from 'preact/hooks';
import { call } from '../data/api.ts';
import type { Reservation } from '../data/types.ts';
import { read, written } from '../model/where.ts';
import { say } from '../words/lease/index.ts';
import type { ActProps } from './act.ts';
import { Field, Note } from './fields.tsx';
import { CheckedChange, useCheck } from './checked.tsx';
import { checkChange, pathOf } from './proposals.ts';
import { inWords } from './things.ts';

const NUMBERS = { min: 'atLeast', max: 'atMost', amount: 'howMany' } as const;
const TEXTS = { resource_properties: 'properties', hypervisor_properties: 'hardware' } as const;
type Numbered = keyof typeof NUMBERS;
type Written = keyof typeof TEXTS;

const numbersOf = (one: Reservation): Numbered[] => {
  // A number in place of the two is the same in both.
  const both = one.min != null && one.max != null;
  return (Object.keys(NUMBERS) as Numbered[]).filter((key) => one[key] != null && !(both && key === 'amount'));
};
const textsOf = (one: Reservation): Written[] =>
  (Object.keys(TEXTS) as Written[]).filter((key) => key in one);
export const changeable = (one: Reservation): boolean => numbersOf(one).length > 0 || textsOf(one).length > 0;

interface Change { id: string; [field: string]: unknown }

/** Return what differs from a reservation; null if a requirement cannot be read. */
function changed(one: Reservation, fields: Record<string, string>): Change | null {
  const change: Change = { id: one.id };
  for (const [key, value] of Object.entries(fields)) {
    if (key in NUMBERS) {
      if (Number(value) !== Number(one[key])) change[key] = Number(value);
      continue;
    }
    const wanted = read(value);
    if (wanted === null) return null;
    if (value.trim() !== written(one[key])) change[key] = wanted;
  }
  return change;
}

export function Amounts({ lease, done, cancel }: ActProps) {
  const [fields, setFields] = useState<Record<string, Record<string, string>>>(() =>
    Object.fromEntries(lease.reservations.map((one) => [one.id, Object.fromEntries([
      ...numbersOf(one).map((key) => [key, String(one[key])]),
      ...textsOf(one).map((key) => [key, written(one[key])]),
    ])])));
  const changes = lease.reservations.map((one) => changed(one, fields[one.id]!));
  const unread = changes.includes(null);
  const reservations = changes.filter((one) => one && Object.keys(one).length > 1);
  const ready = !unread && reservations.length > 0;
  const verdict = useCheck(ready ? JSON.stringify(reservations) : '',
    (signal) => checkChange(lease, { reservations }, signal));
  const send = (event: Event): void => {
    event.preventDefault();
    void done(() => call('PUT', pathOf(lease), { reservations }), say('saved', { name: lease.name }));
  };
  return (
    <form class="ask" onSubmit={send}>
      {lease.reservations.filter(changeable).map((one) => (
        <Part key={one.id} one={one} fields={fields[one.id]!}
          change={(key, value) => setFields({ ...fields, [one.id]: { ...fields[one.id]!, [key]: value } })} />
      ))}
      {unread && <Note kind="bad">{say('requirementBad')}</Note>}
      {ready && <CheckedChange verdict={verdict} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={!ready || verdict.kind !== 'good'}>{say('save')}</button>
        <button type="button" onClick={cancel}>{say('cancel')}</button>
      </div>
    </form>
  );
}

function Part({ one, fields, change }: {
  one: Reservation; fields: Record<string, string>; change: (key: string, value: string) => void;
}) {
  return (
    <fieldset>
      <legend>{inWords(one)}</legend>
      {numbersOf(one).map((key) => (
        <Field key={key} label={say(NUMBERS[key])}>
          <input type="number" min={1} required value={fields[key]}
            onInput={(event) => change(key, event.currentTarget.value)} />
        </Field>
      ))}
      {textsOf(one).map((key) => (
        <Field key={key} label={say(TEXTS[key])}>
          <input type="text" value={fields[key]} autocomplete="off" spellcheck={false}
            onInput={(event) => change(key, event.currentTarget.value)} />
        </Field>
      ))}
      {textsOf(one).length > 0 && <p class="muted">{say('requirementHelp')}</p>}
    </fieldset>
  );
}
