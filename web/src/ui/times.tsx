// SPDX-License-Identifier: Apache-2.0

/** Another time for a lease, longer or shorter; the service says whether it fits. */
import { call } from '../data/api.ts';
import { present, update } from '../data/state.ts';
import { duration, moment, say as sayPage } from '../words/index.ts';
import { say } from '../words/lease/index.ts';
import type { ActProps } from './act.ts';
import { Note, TimeField } from './fields.tsx';
import { Judged, useJudgement } from './judged.tsx';
import { judgeTimes, pathOf, retimed, timesOf } from './proposals.ts';
import type { Times } from './proposals.ts';

const MORE = [3600, 14400, 86400, 604800];

export function TimesForm({ lease, done, cancel, times }: ActProps) {
  const now = timesOf(lease);
  const begun = lease.status !== 'PENDING' || now.start <= present();
  const wish = { ...now, ...times };
  const setWish = (wanted: Times): void => update({
    drawer: { kind: 'lease', id: lease.id, times: wanted },
  });
  const change = retimed(lease, wish);
  const backward = wish.end <= wish.start;
  const same = Object.keys(change).length === 0;
  const verdict = useJudgement(same || backward ? '' : JSON.stringify(change),
    (signal) => judgeTimes(lease, wish, signal));
  const send = (event: Event): void => {
    event.preventDefault();
    void done(() => call('PUT', pathOf(lease), change),
      say('changed', { name: lease.name, start: moment(wish.start), end: moment(wish.end) }));
  };
  return (
    <form class="ask" onSubmit={send}>
      {begun ? <p class="muted">{say('startFixed')}</p> : (
        <TimeField label={say('from')} value={wish.start}
          change={(start) => setWish({ start, end: start + (wish.end - wish.start) })} />
      )}
      <TimeField label={say('to')} value={wish.end} change={(end) => setWish({ ...wish, end })} />
      <div class="segments" role="group" aria-label={say('length')}>
        {MORE.map((d) => (
          <button type="button" key={d} onClick={() => setWish({ ...wish, end: wish.end + d })}>
            {say('plus', { d: duration(d) })}
          </button>
        ))}
      </div>
      {lease.earliest && !begun && <p class="muted">{say('fixes')}</p>}
      {backward && <Note kind="bad">{sayPage('periodBad')}</Note>}
      {same && <p class="muted">{say('sameTimes')}</p>}
      {!same && !backward && <Judged verdict={verdict} take={setWish} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={same || backward || verdict.kind !== 'good'}>{say('save')}</button>
        <button type="button" onClick={cancel}>{say('cancel')}</button>
      </div>
    </form>
  );
}
