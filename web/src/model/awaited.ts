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

/** Which of the events that a lease awaits are steps for people. */
import type { Awaited } from '../data/types.ts';

/** Events that are no step for people: messages to programs, and checks that find nothing. */
const SILENT = new Set(['notification', 'check_lease']);

/** Return the events that people wait for: of several reminders, the next one. */
export function expected(awaited: Awaited[]): Awaited[] {
  const seen = new Set<string>();
  return awaited.filter(({ event_type, why }) => {
    const shown = Boolean(why) || (!SILENT.has(event_type) && !seen.has(event_type));
    seen.add(event_type);
    return shown;
  });
}
