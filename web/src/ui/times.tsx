// SPDX-License-Identifier: Apache-2.0

/** Another time for a lease, longer or shorter; the service says whether it fits. */
import { call } from '../data/api.ts';
import { present, update } from '../data/state.ts';
import { duration, moment, say as sayPage } from '../words/index.ts';
import { say } from '../words/lease/index.ts';
import type { ActProps } from './act.ts';
import { Note, TimeField } from './fields.tsx';
import { CheckedChange, useCheck } from './checked.tsx';
import { checkTimes, pathOf, retimed, timesOf } from './proposals.ts';
import type { Times } from './proposals.ts';

const MORE = [3600, 14400, 86400, 604800];

export function TimesForm({ lease, done, cancel, times }: ActProps) {
  const now = timesOf(lease);
  const begun = lease.status !== 'PENDING' || now.start <= present();
  const requested = { ...now, ...times };
  const setRequested = (next: Times): void => update({
    drawer: { kind: 'lease', id: lease.id, times: next },
  });
  const change = retimed(lease, requested);
  const backward = requested.end <= requested.start;
  const same = Object.keys(change).length === 0;
  const verdict = useCheck(same || backward ? '' : JSON.stringify(change),
    (signal) => checkTimes(lease, requested, signal));
  const send = (event: Event): void => {
    event.preventDefault();
    void done(() => call('PUT', pathOf(lease), change),
      say('changed', { name: lease.name, start: moment(requested.start), end: moment(requested.end) }));
  };
  return (
    <form class="ask" onSubmit={send}>
      {begun ? <p class="muted">{say('startFixed')}</p> : (
        <TimeField label={say('from')} value={requested.start}
          change={(start) => setRequested({ start, end: start + (requested.end - requested.start) })} />
      )}
      <TimeField label={say('to')} value={requested.end} change={(end) => setRequested({ ...requested, end })} />
      <div class="segments" role="group" aria-label={say('length')}>
        {MORE.map((d) => (
          <button type="button" key={d} onClick={() => setRequested({ ...requested, end: requested.end + d })}>
            {say('plus', { d: duration(d) })}
          </button>
        ))}
      </div>
      {lease.earliest && !begun && <p class="muted">{say('fixes')}</p>}
      {backward && <Note kind="bad">{sayPage('periodBad')}</Note>}
      {same && <p class="muted">{say('sameTimes')}</p>}
      {!same && !backward && <CheckedChange verdict={verdict} take={setRequested} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={same || backward || verdict.kind !== 'good'}>{say('save')}</button>
        <button type="button" onClick={cancel}>{say('cancel')}</button>
      </div>
    </form>
  );
}
