// SPDX-License-Identifier: Apache-2.0

/** Offers: periods in which a lease fits, that can be taken, and held for a while. */
import { useEffect, useRef } from 'preact/hooks';
import { call, seconds } from '../data/api.ts';
import { afterChange } from '../data/live.ts';
import type { Offer } from '../data/types.ts';
import { say, things } from '../words/form/index.ts';
import { clock, duration, either, moment } from '../words/index.ts';
import { typeOf } from './parts.ts';
import type { LeaseRequest } from './parts.ts';

/** Seconds that an offer can be held. */
export const HOLD = 600;

/** Release what was held once other offers are shown, or the form is closed. */
export function useHeld(offers: Offer[] | null): { current: string | null } {
  const held = useRef<string | null>(null);
  const id = offers?.find((offer) => offer.held_until)?.id ?? null;
  useEffect(() => {
    held.current = id;
    return () => {
      if (!held.current) return;
      void call('DELETE', `offers/${held.current}`).then(afterChange, () => undefined);
      held.current = null;
    };
  }, [id]);
  return held;
}

/** An offer as a button that takes it. */
export function OfferButton(props: { offer: Offer; request: LeaseRequest; busy: boolean; take: (offer: Offer) => void }) {
  const { offer, request } = props;
  const [start, end] = [seconds(offer.start_date), seconds(offer.end_date)];
  const what = offer.reservations
    .map((one) => things(typeOf(request.parts[one.reservation]?.type ?? ''), one.amount)).join(', ');
  const values = offer.requirements?.map((one) => say('equals', { property: one.property, values: either(one.values) }));
  const details = [
    say('forLength', { d: duration(end - start) }), ...new Set(values ?? []),
    ...(!Number(offer.cost) ? [] : [say('costs', { cost: Number(offer.cost) })]),
    ...(offer.held_until ? [say('heldUntil', { end: clock(seconds(offer.held_until)) })] : []),
  ];
  return (
    <button type="button" disabled={props.busy} title={say('takeOffer')} onClick={() => props.take(offer)}>
      <strong>{say('altFrom', { things: what, start: moment(start) })}</strong>
      <span>{details.join(', ')}</span>
    </button>
  );
}
