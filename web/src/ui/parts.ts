// SPDX-License-Identifier: Apache-2.0

/** What a form requests: a period, and the reservations of a lease. */
import { iso } from '../data/api.ts';
import { present, state } from '../data/state.ts';
import type { Draft } from '../data/state.ts';
import type { ResourceType } from '../data/types.ts';
import { controlsOf, valueOf } from '../model/controls.ts';
import type { Control } from '../model/controls.ts';
import { namesOf, requirement } from '../model/requirement.ts';
import type { Condition } from '../model/requirement.ts';
import { say, sayIf } from '../words/form/index.ts';

/** A reservation; `fields` are texts as they were typed. */
export interface Part {
  id: number; type: string; amount: number; conditions: Condition[]; fields: Record<string, string>;
}
/** When a lease may be that begins as soon as there is room; null for no limit. */
export interface Soon {
  length: number; earliest: number | null; latest: number | null;
  /** Whether it waits if there is no room. */
  waits: boolean;
  /** What becomes of it when others need its place: empty for what its types can do; null if it does not yield. */
  yields: string | null;
}
export const soonOf = (length: number): Soon =>
  ({ length, earliest: null, latest: null, waits: false, yields: null });
/** `opened` is when the form was; `soon` takes the place of the period. */
export interface LeaseRequest {
  start: number; end: number; opened: number; parts: Part[]; soon?: Soon | null;
}

let parts = 0;
export const newPart = (type: string): Part =>
  ({ id: parts++, type, amount: 1, conditions: [], fields: {} });

export const typeOf = (name: string): ResourceType =>
  state.bookable.find((type) => type.name === name) ?? { name };

/** Return the type whose resources have what the conditions of a type are about. */
export const populationOf = (type: string): string =>
  (/^(virtual:instance|flavor:instance|virtual:server)$/.test(type) ? 'physical:host' : type);

/** Return the fields of a type that take conditions. */
export function conditionFields(type: ResourceType): string[] {
  if (!type.reservation_schema) return type.name === 'physical:host' ? ['resource_properties'] : [];
  return Object.keys(type.reservation_schema.properties ?? {}).filter((key) => key.endsWith('_properties'));
}

/** Return whether one can have several of a type in a reservation. */
export function isCounted(type: ResourceType): boolean {
  const fields = type.reservation_schema?.properties;
  return !fields || 'amount' in fields || 'min' in fields;
}

export const inputsOf = (type: ResourceType): Control[] => controlsOf(type.name, type.reservation_schema);

export const labelOf = (control: Control): string => sayIf('field', control.key) || control.title
  || control.key.replace(/^resources\./, '').replaceAll('_', ' ');

/** Return the first reservation of a draft, with the conditions of what is shown. */
export function firstPart(draft: Draft): Part {
  const part = { ...newPart(state.type), amount: draft.amount };
  if (state.type === 'virtual:floatingip') {
    part.fields = addressed(draft.names);
  } else if (draft.names.length === draft.amount) {
    const names = namesOf(state.type, draft.names);
    if (names) part.conditions.push(names);
  }
  const group = state.only?.startsWith(GROUP) ? state.only.slice(GROUP.length) : null;
  if (group !== null && conditionFields(typeOf(state.type)).length) {
    part.conditions.push({ kind: 'property', property: state.group, values: [group] });
  }
  return part;
}

/** Return the fields of floating IPs, whose resources are named after a network and an address. */
function addressed(names: string[]): Record<string, string> {
  const networks = new Set(names.map((name) => name.split(':')[0]!));
  if (names.length === 0 || names.length > MOST_ADDRESSES || networks.size > 1) return {};
  return {
    network_id: [...networks][0]!,
    required_floatingips: names.map((name) => name.slice(name.indexOf(':') + 1)).join(', '),
  };
}
const MOST_ADDRESSES = 100;
/** What keys of groups begin with; see keyOf. */
const GROUP = '=';

/** Return a reservation of another type: it forgets what only the old one has. */
export function retyped(part: Part, type: string): Part {
  const same = populationOf(type) === populationOf(part.type);
  const takes = conditionFields(typeOf(type)).length > 0;
  return { ...newPart(type), id: part.id, amount: part.amount, conditions: same && takes ? part.conditions : [] };
}

/** Types that take something that exists, or else what to make it of. */
const EITHER: Record<string, [string, string[]]> = {
  'virtual:server': ['server_id', ['name', 'flavor']], 'virtual:stack': ['stack_id', ['name', 'template']],
};

/** Return the words of the required fields that are empty, and of those that cannot be read. */
export function faults(part: Part): { missing: string[]; bad: string[] } {
  const inputs = inputsOf(typeOf(part.type));
  const typed = (key: string): string => part.fields[key]?.trim() ?? '';
  const unreadable = (input: Control): boolean => {
    try {
      if (typed(input.key)) valueOf(input, typed(input.key));
      return false;
    } catch {
      return true;
    }
  };
  const missing = inputs.filter((input) => input.required && !typed(input.key)).map(labelOf);
  const [one, others] = EITHER[part.type] ?? ['', []];
  if (one && !typed(one) && others.some((key) => !typed(key))) {
    const labels = (keys: string[]): string[] =>
      inputs.filter(({ key }) => keys.includes(key)).map(labelOf);
    missing.push(say('eitherOr', { one: labels([one]).join(), others: labels(others).join(', ') }));
  }
  return { missing, bad: inputs.filter(unreadable).map(labelOf) };
}

/** Return a reservation as the API reads it. */
export function bodyOf(part: Part): Record<string, unknown> {
  const type = typeOf(part.type);
  const body: Record<string, unknown> = { resource_type: type.name };
  const known = type.reservation_schema?.properties;
  if (known ? 'amount' in known : type.name !== 'physical:host') body.amount = part.amount;
  else if (!known || 'min' in known) Object.assign(body, { min: part.amount, max: part.amount });
  for (const input of inputsOf(type)) {
    const text = part.fields[input.key]?.trim();
    if (text) put(body, input.key, valueOf(input, text));
  }
  if (type.classes && type.exclusive === false && !('resources' in body) && type.origin !== 'code') {
    body.resources = Object.fromEntries(type.classes.map((name) => [name, 1]));
  }
  return { ...body, ...conditioned(type, part.conditions) };
}

/** Set a field of a body; "resources.SEAT" is one of an object. */
function put(body: Record<string, unknown>, key: string, value: unknown): void {
  const [first, rest] = key.split('.', 2);
  if (!rest) body[key] = value;
  else body[first!] = { ...(body[first!] as object | undefined), [rest]: value };
}

/** Return conditions as fields of a reservation. Hosts have one for their names, as there may be many. */
function conditioned(type: ResourceType, conditions: Condition[]): Record<string, unknown> {
  const [field] = conditionFields(type).filter((key) => key !== 'hypervisor_properties');
  if (!field) return {};
  const population = populationOf(type.name);
  if (type.name !== 'physical:host') return { [field]: requirement(population, conditions) ?? [] };
  return {
    hypervisor_properties: requirement(population, conditions.filter(({ kind }) => kind === 'names')) ?? [],
    resource_properties: requirement(population, conditions.filter(({ kind }) => kind !== 'names')) ?? [],
  };
}

/** Return the dates of a request. What was to begin soon begins now, however long one thinks. */
export function dates(request: LeaseRequest): Record<string, string | number | boolean> {
  if (request.soon) {
    const { length, earliest, latest, waits, yields } = request.soon;
    // An earliest start that has passed meanwhile is no limit any more.
    const later = earliest !== null && earliest > present();
    return {
      duration: length, ...(later ? { earliest: iso(earliest) } : {}),
      ...(latest === null ? {} : { latest: iso(latest) }), ...(waits ? { wait: true } : {}),
      ...(yields === null ? {} : { preemptible: true, ...(yields ? { yield: yields } : {}) }),
    };
  }
  const soon = request.start >= request.opened - 60 && request.start <= present() + 60;
  return { start_date: soon ? 'now' : iso(request.start), end_date: iso(request.end) };
}
