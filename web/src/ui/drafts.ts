/** What a new lease or maintenance begins with. */
import { rows } from '../data/live.ts';
import { present } from '../data/state.ts';
import type { Draft } from '../data/state.ts';

/** Return the draft of a period of some rows. */
export function draftOf(first: number, last: number, start: number, end: number): Draft {
  const draft: Draft = { start, end, amount: last - first + 1, names: [], ids: [] };
  for (let row = first; row <= last; row++) {
    const chunk = rows.chunkOf(row);
    if (!chunk) continue;
    draft.names.push(chunk.name[row - chunk.first]!);
    draft.ids.push(chunk.id[row - chunk.first]!);
  }
  return draft;
}

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
