// SPDX-License-Identifier: Apache-2.0

/** What a new lease or maintenance begins with. */
import { rows } from '../data/live.ts';
import { present, viewport } from '../data/state.ts';
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

/** Return the draft of the button: an hour, soon, or early in what is looked at. */
export function freshDraft(): Draft {
  const soon = Math.ceil((present() + 60) / 900) * 900;
  const seen = Math.ceil(viewport.start / 3600) * 3600;
  const start = Math.max(soon, seen);
  return { start, end: start + 3600, amount: 1, names: [], ids: [] };
}
