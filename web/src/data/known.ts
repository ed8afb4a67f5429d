// SPDX-License-Identifier: Apache-2.0

/** What the service knows of what can be asked for: properties, traits, and ids that were used. */
import { get, iso } from './api.ts';
import { present } from './state.ts';
import type { Known } from '../model/requirement.ts';

interface Choices {
  resource_properties: { property: string; values: { value: string; resources: number }[] }[];
  traits: { trait: string; resources: number }[];
}
const NAMES = 100;
const LEASES = 100;

/** Return the properties and traits of the resources of a type, as far as requirements can choose. */
export async function knownOf(type: string): Promise<Known> {
  const path = 'resources/properties';
  const [all, set] = await Promise.all([
    get<Choices>(path, { type, values: true }),
    get<{ resource_properties: { property: string }[] }>(path, { type }),
  ]).catch(() => [{ resource_properties: [], traits: [] }, { resource_properties: [] }] as const);
  const own = new Set(set.resource_properties.map(({ property }) => property));
  return {
    properties: all.resource_properties.map((one) => ({ ...one, own: own.has(one.property) })),
    traits: [...all.traits],
  };
}

/** Return the names of the first resources that a search finds. */
export async function namesFound(type: string, search: string): Promise<string[]> {
  const { calendar } = await get<{ calendar: { resources: { name: string[] } } }>('calendar', {
    resource_type: type, search, limit: NAMES, start: iso(present()), end: iso(present() + 3600),
  });
  return calendar.resources.name;
}

type Used = Record<string, unknown> & { resource_type: string };

/** Return the values of fields in the latest leases of the project, and ids that names have. */
export async function usedBefore(): Promise<Map<string, string[]>> {
  const found = new Map<string, Set<string>>();
  const add = (key: string, value: unknown): void => {
    if (typeof value !== 'string' || !value) return;
    found.set(key, (found.get(key) ?? new Set()).add(value));
  };
  const [{ leases }, addresses] = await Promise.all([
    get<{ leases: { reservations: Used[] }[] }>('leases', { limit: LEASES }).catch(() => ({ leases: [] })),
    namesFound('virtual:floatingip', '').catch(() => []),
  ]);
  for (const { reservations } of leases) {
    for (const one of reservations) {
      for (const [key, value] of Object.entries(one)) add(`${one.resource_type} ${key}`, value);
    }
  }
  addresses.forEach((name) => add('virtual:floatingip network_id', name.split(':')[0]));
  return new Map([...found].map(([key, values]) => [key, [...values]]));
}
