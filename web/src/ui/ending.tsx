// SPDX-License-Identifier: Apache-2.0

/** Ends a lease now, or deletes it, after saying what is lost. */
import type { ComponentChildren } from 'preact';
import { call, seconds } from '../data/api.ts';
import { present } from '../data/state.ts';
import type { Lease, Reservation } from '../data/types.ts';
import { LEASE_WORDS, say, sayOf } from '../words/lease/index.ts';
import type { LeaseWords } from '../words/lease/en.ts';
import type { ActProps } from './act.ts';
import { pathOf } from './proposals.ts';
import { counted, inWords, namesOf } from './things.ts';

/** Return in words what the end of a lease does, for each of its reservations. */
export function losses(lease: Lease, now = present()): string[] {
  const running = lease.status !== 'PENDING' && seconds(lease.start_date) <= now;
  return lease.reservations.map((one) => (running && lossOf(one)) || freed(one));
}

const freed = (one: Reservation): string => say('frees', { what: namesIn(one) || inWords(one) });

function namesIn(one: Reservation): string {
  const name = one.network_name;
  if (typeof name === 'string') return name;
  return namesOf(one.resources ?? [], one.resources_count);
}

function lossOf(one: Reservation): string {
  const key = `loses_${one.resource_type}`;
  if (key in LEASE_WORDS.en!) return say(key as keyof LeaseWords, { names: namesIn(one) || inWords(one), n: counted(one) });
  if (one.on_end == null || one.on_end === 'default') return '';
  const steps = (Array.isArray(one.on_end) ? one.on_end.map(String) : String(one.on_end).split(','))
    .map((step) => step.trim()).filter(Boolean);
  if (steps.length === 0) return say('keeps', { what: inWords(one) });
  return say('does', { what: inWords(one), steps: steps.map((step) => sayOf('step', step)).join(', ') });
}

export const Ending = ({ lease, done, cancel }: ActProps) => (
  <Confirmation lease={lease} ask={say('endAsk', { name: lease.name })} word={say('endNow')} cancel={cancel}
    act={() => done(() => call('PUT', pathOf(lease), { end_date: 'now' }), say('ended', { name: lease.name }))}>
    {say('keepsIt')}
  </Confirmation>
);

export const Deletion = ({ lease, done, cancel }: ActProps) => (
  <Confirmation lease={lease} ask={say('deleteAsk', { name: lease.name })} word={say('deleteNow')} cancel={cancel}
    act={() => done(() => call('DELETE', pathOf(lease)), say('deleted', { name: lease.name }), true)} />
);

function Confirmation(props: {
  lease: Lease; ask: string; word: string; act: () => Promise<void>; cancel: () => void;
  children?: ComponentChildren;
}) {
  return (
    <div class="ask" role="group" aria-label={props.word}>
      <p><strong>{props.ask}</strong></p>
      <ul class="losses">{losses(props.lease).map((one, n) => <li key={n}>{one}</li>)}</ul>
      <p>{props.children} {say('noUndo')}</p>
      <div class="actions">
        <button type="button" class="danger full" onClick={() => void props.act()}>{props.word}</button>
        <button type="button" onClick={props.cancel}>{say('cancel')}</button>
      </div>
    </div>
  );
}
