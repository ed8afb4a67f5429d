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
