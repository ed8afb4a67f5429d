// SPDX-License-Identifier: Apache-2.0

/** What types of resources are called. */
import type { ResourceType } from '../data/types.ts';
import { en } from './en.ts';
import type { Catalogue } from './en.ts';
import { capital, say } from './index.ts';

/** What people reserve most comes first. */
const ORDER = [
  'virtual:instance', 'flavor:instance', 'physical:host', 'virtual:volume', 'network', 'virtual:floatingip',
  'physical:storage', 'virtual:server', 'virtual:stack',
];

/** Return types as people look for them; declared ones come last, in their own order. */
export function inOrder(types: ResourceType[]): ResourceType[] {
  const rank = ({ name }: ResourceType): number => ORDER.indexOf(name) + 1 || ORDER.length + 1;
  return [...types].sort((one, other) => rank(one) - rank(other));
}

/** Return a type in words, such as "Hosts"; a declared one has a noun of its operator. */
export function kindOf(type: ResourceType): string {
  const key = `kind_${type.name}`;
  if (key in en) return say(key as keyof Catalogue);
  return capital(type.noun || type.name);
}
