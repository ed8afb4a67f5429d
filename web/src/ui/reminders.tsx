// SPDX-License-Identifier: Apache-2.0

/** When a lease reminds its owner, and which emails it sends. */
import { useState } from 'preact/hooks';
import { call, iso, seconds } from '../data/api.ts';
import { present } from '../data/state.ts';
import { duration } from '../words/index.ts';
import { say, sayOf } from '../words/lease/index.ts';
import type { ActProps } from './act.ts';
import { Field } from './fields.tsx';
import { pathOf } from './proposals.ts';

/** Seconds before the start or the end. */
const LEADS = [900, 3600, 14400, 86400, 604800];
const NOTICES = ['moved', 'before_start', 'started', 'yielding', 'before_end', 'degraded', 'error'];

/** Return the usual times that are within a length, and those that were set elsewhere. */
const leads = (length: number, more: number[]): number[] =>
  [...new Set([...LEADS.filter((one) => one < length), ...more])].sort((one, other) => one - other);

export function Reminders({ lease, done, cancel }: ActProps) {
  const [start, end] = [seconds(lease.start_date), seconds(lease.end_date)];
  const atEnd = lease.before_end_date ? Math.round(end - seconds(lease.before_end_date)) : null;
  const [starts, setStarts] = useState(lease.notify_before_start);
  const [ends, setEnds] = useState(atEnd);
  const [notices, setNotices] = useState(lease.notices);
  const change = {
    ...(same(starts, lease.notify_before_start) ? {} : { notify_before_start: starts }),
    ...(ends === atEnd ? {} : { before_end_date: ends === null ? null : iso(end - ends) }),
    ...(same(notices, lease.notices) ? {} : { notices }),
  };
  const send = (event: Event): void => {
    event.preventDefault();
    void done(() => call('PUT', pathOf(lease), change), say('saved', { name: lease.name }));
  };
  const ahead = start - present();
  return (
    <form class="ask" onSubmit={send}>
      {ahead > 0 && (
        <Several legend={say('remindStart')} all={leads(ahead, lease.notify_before_start ?? [])} chosen={starts}
          choose={setStarts} word={duration} />
      )}
      <Field label={say('remindEnd')}>
        <select value={ends ?? ''} onChange={({ currentTarget: { value } }) => setEnds(value ? Number(value) : null)}>
          <option value="">{say('asOperator')}</option>
          {leads(end - start, atEnd === null ? [] : [atEnd]).map((d) => <option key={d} value={d}>{duration(d)}</option>)}
        </select>
      </Field>
      <Several legend={say('mails')} all={NOTICES} chosen={notices} choose={setNotices}
        word={(one) => sayOf('notice', one)} />
      <div class="actions">
        <button type="submit" class="primary" disabled={Object.keys(change).length === 0}>{say('save')}</button>
        <button type="button" onClick={cancel}>{say('cancel')}</button>
      </div>
    </form>
  );
}

const same = <T,>(one: T[] | null, other: T[] | null): boolean =>
  JSON.stringify(one && [...one].sort()) === JSON.stringify(other && [...other].sort());

/** Choices of which any can be made; null leaves them to the operator. */
function Several<T extends string | number>(props: {
  legend: string; all: T[]; chosen: T[] | null; choose: (chosen: T[] | null) => void; word: (one: T) => string;
}) {
  const { chosen, choose } = props;
  const toggle = (one: T): void => choose(chosen!.includes(one) ? chosen!.filter((each) => each !== one) : [...chosen!, one]);
  const mode = (wanted: T[] | null, text: string) => (
    <label class="check">
      <input type="radio" name={props.legend} checked={(chosen === null) === (wanted === null)} onChange={() => choose(wanted)} />
      {text}
    </label>
  );
  return (
    <fieldset>
      <legend>{props.legend}</legend>
      {mode(null, say('asOperator'))}
      {mode([], say('byMe'))}
      {chosen && (
        <div class="several">
          {props.all.map((one) => (
            <label class="check" key={one}>
              <input type="checkbox" checked={chosen.includes(one)} onChange={() => toggle(one)} />
              {props.word(one)}
            </label>
          ))}
        </div>
      )}
    </fieldset>
  );
}
