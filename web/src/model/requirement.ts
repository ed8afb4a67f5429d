// SPDX-License-Identifier: Apache-2.0

/** What reserved resources must have: conditions as people choose them, and as the API reads them. */

/** A requirement of the API, such as ["==", "$gpu", "a100"]. */
export type Expression = (string | Expression)[];

/** Each is a chip of the form. The resources must meet all of them. */
export type Condition =
  | { kind: 'names'; names: string[] }
  | { kind: 'property'; property: string; values: string[] }
  | { kind: 'trait'; trait: string }
  | { kind: 'search'; text: string; terms: Expression[] };

/** A property with its values; operators set it if it is `own`, and the cloud reports it otherwise. */
export interface KnownProperty { property: string; values: { value: string; resources: number }[]; own: boolean }
export interface Known { properties: KnownProperty[]; traits: { trait: string; resources: number }[] }

/** Comparisons and traits that a requirement can have at most. */
export const MOST_TERMS = 100;

const equal = (property: string, value: string): Expression => ['==', `$${property}`, value];

/** Return the requirement that only one resource meets; null if its type has no such property. */
export function identity(type: string, name: string): Expression | null {
  if (type === 'physical:host') return equal('hypervisor_hostname', name);
  const segment = /^vlan:(.+):(\d+)$/.exec(name);
  if (type === 'network' && segment) {
    return ['and', equal('network_type', 'vlan'), equal('physical_network', segment[1]!), equal('segment_id', segment[2]!)];
  }
  const pool = /^(.+)#(.+)$/.exec(name);
  if (type === 'physical:storage' && pool) return ['and', equal('backend', pool[1]!), equal('pool_name', pool[2]!)];
  return null;
}

/** Return the condition that only these resources meet; null if there is none, or it is too long. */
export function namesOf(type: string, names: string[]): Condition | null {
  const terms = names.map((name) => identity(type, name));
  if (terms.length === 0 || terms.includes(null)) return null;
  return size(anyOf(terms as Expression[])) <= MOST_TERMS ? { kind: 'names', names } : null;
}

function termsOf(type: string, condition: Condition): Expression[] {
  switch (condition.kind) {
    case 'names': return condition.names.map((name) => identity(type, name)!);
    case 'property': return condition.values.map((value) => equal(condition.property, value));
    case 'trait': return [['trait', condition.trait]];
    case 'search': return condition.terms;
  }
}

const anyOf = (terms: Expression[]): Expression => (terms.length === 1 ? terms[0]! : ['or', ...terms]);

/** Return how many comparisons and traits a requirement has. */
export function size(found: Expression | null): number {
  if (!found) return 0;
  const inner = found.slice(1).filter((part) => Array.isArray(part));
  return inner.length ? inner.reduce((sum, part) => sum + size(part as Expression), 0) : 1;
}

/** Return the requirement of conditions; null if any resource will do. */
export function requirement(type: string, conditions: Condition[]): Expression | null {
  const parts = conditions.map((condition) => anyOf(termsOf(type, condition)));
  if (parts.length < 2) return parts[0] ?? null;
  return ['and', ...parts];
}

/** Return conditions with one more value of a property, besides those that they allow already. */
export function withValue(conditions: Condition[], property: string, value: string): Condition[] {
  const same = conditions.find((one) => one.kind === 'property' && one.property === property);
  if (same?.kind !== 'property') return [...conditions, { kind: 'property', property, values: [value] }];
  if (same.values.includes(value)) return conditions;
  return conditions.map((one) => (one === same ? { ...same, values: [...same.values, value] } : one));
}

/** Return conditions in which other values of a property are wanted. */
export function instead(conditions: Condition[], property: string, values: string[]): Condition[] {
  const named = property === 'hypervisor_hostname';
  const wanted: Condition = named ? { kind: 'names', names: values } : { kind: 'property', property, values };
  const kept = conditions.filter((one) => (named ? one.kind !== 'names'
    : one.kind !== 'property' || one.property !== property));
  return [...kept, wanted];
}

/**
 * Return what a search in the calendar means for a booking: an exact value, or all values,
 * traits and names in which the text occurs. Null if that is too much or nothing.
 */
export function searched(type: string, text: string, known: Known, names: string[]): Condition | null {
  const exact = /^([^=]+)=(.*)$/.exec(text);
  if (exact) return { kind: 'property', property: exact[1]!.trim(), values: [exact[2]!.trim()] };
  const has = (word: string): boolean => word.toLowerCase().includes(text.toLowerCase());
  const terms = [
    // The calendar searches what operators have set.
    ...known.properties.filter(({ own }) => own).flatMap(({ property, values }) => values.filter(({ value }) => has(value))
      .map(({ value }) => equal(property, value))),
    ...known.traits.filter(({ trait }) => has(trait)).map(({ trait }): Expression => ['trait', trait]),
    ...names.filter(has).map((name) => identity(type, name)).filter((one) => one !== null),
  ];
  if (terms.length === 0 || size(anyOf(terms)) > MOST_TERMS) return null;
  return { kind: 'search', text, terms };
}

/** Return whether a reservation can have all of these conditions. Hosts have a field for names alone. */
export function fits(type: string, conditions: Condition[]): boolean {
  const names = conditions.filter(({ kind }) => kind === 'names');
  const others = conditions.filter(({ kind }) => kind !== 'names');
  const parts = type === 'physical:host' ? [names, others] : [conditions];
  return parts.every((part) => size(requirement(type, part)) <= MOST_TERMS);
}

/** Return the properties that tell resources apart: first those of operators, no ids and long texts. */
export function choosable({ properties }: Known): KnownProperty[] {
  const names = (one: KnownProperty): boolean => !one.own && one.property !== 'hypervisor_hostname'
    && one.values.length > 1 && one.values.every(({ resources }) => resources === 1);
  const long = (one: KnownProperty): boolean => one.values.some(({ value }) => value.length > LONG);
  const shown = properties.filter((one) => one.values.length > 0 && !names(one) && !long(one));
  return [...shown.filter(({ own }) => own), ...shown.filter(({ own }) => !own)];
}
/** Characters of a value that a list can show. */
const LONG = 64;
