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

/** How many resources are free now, which does not depend on the zoom of the calendar. */
import { Refusal, call, iso } from './api.ts';
import { present, state } from './state.ts';
import type { Availability } from './types.ts';

const MINUTE = 60;
/** The answer is kept while there is no connection: the page shows what it has. */
export const free = { answer: null as Availability | null, key: '', etag: null as string | null };
let loads = false;

/** Ask how many are free in this minute, if that is not known or is asked again. */
export async function loadFree(again: boolean): Promise<void> {
  const key = `${state.type} ${state.group}`;
  if (loads || (key === free.key && !again)) return;
  if (key !== free.key) Object.assign(free, { answer: null, etag: null });
  free.key = key;
  loads = true;
  const start = Math.floor(present() / MINUTE) * MINUTE;
  try {
    const { status, body, etag } = await call<{ availability: Availability }>(
      'GET', 'availability', undefined, {
        etag: free.etag, params: {
          resource_type: state.type, group_by: state.group, step: MINUTE,
          start: iso(start), end: iso(start + MINUTE),
        },
      });
    if (status !== 304) Object.assign(free, { answer: body.availability, etag });
  } catch (error) {
    // No figures for a type is no trouble: the grid says what there is.
    if (error instanceof Refusal && error.status !== 401 && error.status < 500) free.answer = null;
    else throw error;
  } finally {
    loads = false;
  }
}
