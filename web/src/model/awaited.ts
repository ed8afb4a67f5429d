// SPDX-License-Identifier: Apache-2.0

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
