// SPDX-License-Identifier: Apache-2.0

/** How many resources are free now, which does not depend on the zoom of the calendar. */
import { Refusal, call, iso } from './api.ts';
import { present, state } from './state.ts';
import type { Availability } from './types.ts';

const MINUTE = 60;
/** Starts are this far apart: a minute before its present the service knows nothing, and answers late. */
const QUARTER = 15;
/** The answer is kept while there is no connection: the page shows what it has. */
export const free = { answer: null as Availability | null, key: '', etag: null as string | null };
let loads = false;

/** Return the requirement that the search is, so that figures count what rows show; '' for a part of a name. */
export function demanded(): string {
  const exact = /^([^=]+)=(.*)$/.exec(state.search);
  return exact ? JSON.stringify(['==', `$${exact[1]!.trim()}`, exact[2]!.trim()]) : '';
}

/** Ask how many are free in the minute from now on, if that is not known or is asked again. */
export async function loadFree(again: boolean): Promise<void> {
  const key = `${state.type} ${state.group} ${demanded()}`;
  if (loads || (key === free.key && !again)) return;
  if (key !== free.key) Object.assign(free, { answer: null, etag: null });
  free.key = key;
  loads = true;
  const start = Math.floor(present() / QUARTER) * QUARTER;
  try {
    const { status, body, etag } = await call<{ availability: Availability }>(
      'GET', 'availability', undefined, {
        etag: free.etag, params: {
          resource_type: state.type, group_by: state.group, resource_properties: demanded(), step: MINUTE,
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
