// SPDX-License-Identifier: Apache-2.0

/** What reservations are of, in words: "2 hosts", not "2 physical:host". */
import { state } from '../data/state.ts';
import type { Held, Lease, Reservation, ResourceType } from '../data/types.ts';
import { plainName } from '../model/names.ts';
import { written } from '../model/where.ts';
import { things } from '../words/form/index.ts';
import { kindOf } from '../words/kinds.ts';
import { say } from '../words/lease/index.ts';

const MOST_NAMES = 12;
const REQUIREMENTS = ['resource_properties', 'hypervisor_properties', 'network_properties'];

const typeOf = (name: string): ResourceType => state.bookable.find((type) => type.name === name) ?? { name };

/** Return a number of resources of a type in words, such as "2 hosts". */
export const number = (type: string, n: number): string => things(typeOf(type), n);

/** Return a type in words, such as "Hosts". */
export const typeInWords = (type: string): string => kindOf(typeOf(type));

/** Return how many resources a reservation has. */
export const counted = (one: Reservation): number => one.resources_count ?? one.resources?.length ?? 0;

/** Return what a reservation has, or asks for as long as it has nothing. */
export function inWords(one: Reservation): string {
  const type = one.resource_type;
  const [min, max] = [Number(one.min || one.amount || 1), Number(one.max || one.amount || 1)];
  // Room for servers and volumes is on resources that are no servers and volumes.
  const n = one.max != null && counted(one) > 0 ? counted(one) : max;
  const open = counted(one) === 0 && min < max;
  return open ? say('range', { min, max: number(type, max) }) : number(type, n);
}

export const allInWords = (lease: Lease): string => lease.reservations.map(inWords).join(', ');

/** Return the requirement of a reservation as people write it; '' without one. */
export const requirementOf = (one: Reservation): string =>
  REQUIREMENTS.map((field) => written(one[field])).filter(Boolean).join(' and ');

/** Return the names of resources, not too many. */
export function namesOf(has: Held[], count = has.length): string {
  const names = has.slice(0, MOST_NAMES).map((one) => plainName(one.name)).join(', ');
  return count > MOST_NAMES ? `${names} … (${count.toLocaleString(state.language)})` : names;
}

export const heldBy = (lease: Lease): Held[] => lease.reservations.flatMap((one) => one.resources ?? []);
