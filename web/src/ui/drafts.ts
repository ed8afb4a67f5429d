// Licensed under the Apache License, Version 2.0 (the "License"); you may
// not use this file except in compliance with the License. You may obtain
// a copy of the License at
//
//      http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
// WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
// License for the specific language governing permissions and limitations
// under the License.

/** What a new lease or maintenance begins with. */
import { rows } from '../data/live.ts';
import { present } from '../data/state.ts';
import type { Draft } from '../data/state.ts';

/** Return the draft of a period of some rows. */
export function draftOf(first: number, last: number, start: number, end: number): Draft {
  const draft: Draft = { start, end, amount: rows.count(first, last), names: [], ids: [] };
  for (let row = first; row <= last; row++) {
    const chunk = rows.chunkOf(row);
    if (!chunk) continue;
    draft.names.push(chunk.name[row - chunk.first]!);
    draft.ids.push(chunk.id[row - chunk.first]!);
  }
  return draft;
}

/** Return the next minute: what begins at once begins then. */
export const soonest = (): number => Math.ceil(present() / 60) * 60;

/** Return the draft of the button: an hour, soon. */
export function freshDraft(): Draft {
  const start = Math.ceil((present() + 60) / 900) * 900;
  return { start, end: start + 3600, amount: 1, names: [], ids: [] };
}

/** Return the reservation of a request; `exactly` these resources or any. */
export function reservation(
  type: { name: string; exclusive?: boolean; classes?: string[] }, amount: number,
  exactly: string[], sizes: Record<string, number>,
): Record<string, unknown> {
  const among = (property: string): string => {
    const each = exactly.map((name) => ['==', `$${property}`, name]);
    return each.length ? JSON.stringify(each.length > 1 ? ['or', ...each] : each[0]) : '';
  };
  if (type.name === 'physical:host') {
    return {
      resource_type: type.name, min: amount, max: amount, resource_properties: '',
      hypervisor_properties: among('hypervisor_hostname'),
    };
  }
  const counted = type.exclusive === false ? { resources: sizes } : {};
  return { resource_type: type.name, amount, ...counted };
}

export const bookable = (type: string): boolean =>
  type === 'physical:host' || type.startsWith('custom:');
