// SPDX-License-Identifier: Apache-2.0

/** Which leases a list has: whose, in which state, of which type, by name; fetched by pages. */
import { get, iso } from '../data/api.ts';
import { present, state } from '../data/state.ts';
import type { Lease } from '../data/types.ts';

export type Scope = 'mine' | 'project' | 'everyone';
export interface LeaseFilter { scope: Scope; status: string; type: string; search: string; ended: boolean }
export interface Listed { leases: Lease[]; more: boolean }
interface Answer { leases: Lease[]; leases_links?: unknown[] }

export const PAGE = 25;
/** Leases of a page in which names are searched, which the service does not do. */
const SEARCHED = 500;
const FIELDS = 'id,name,status,degraded,start_date,end_date,user_id,user_name,project_id,project_name,reservations';
export const STATUSES = ['WAITING', 'PENDING', 'STARTING', 'ACTIVE', 'UPDATING', 'TERMINATING', 'TERMINATED', 'DELETING', 'ERROR'];

/** The choices of the list, which stay while one looks elsewhere. */
export const chosenFilter: LeaseFilter = { scope: 'mine', status: '', type: '', search: '', ended: false };

export const scopes = (): Scope[] => ['mine', 'project', ...(state.me?.admin ? ['everyone' as const] : [])];

function parameters({ scope, status, type, ended }: LeaseFilter): Record<string, unknown> {
  const whose = scope === 'mine' ? { user: 'me' } : scope === 'project' ? { project_id: state.me!.project_id } : null;
  return {
    ...whose, status, resource_type: type, fields: FIELDS, sort_key: 'start_date',
    // Soonest first; with the past, what is furthest ahead is first and the past last.
    ...(ended ? { sort_dir: 'desc' } : { sort_dir: 'asc', end_after: iso(present()) }),
  };
}

/** Fetch leases until there are as many as wanted, or no more. */
export async function listed(filter: LeaseFilter, count: number): Promise<Listed> {
  const leases: Lease[] = [];
  const sought = filter.search.trim().toLocaleLowerCase();
  const params = { ...parameters(filter), limit: sought ? SEARCHED : Math.min(count, SEARCHED) };
  let marker: string | undefined;
  for (let more = true; more;) {
    const answer = await get<Answer>('leases', { ...params, marker });
    leases.push(...answer.leases.filter(({ name }) => name.toLocaleLowerCase().includes(sought)));
    more = Boolean(answer.leases_links);
    marker = answer.leases.at(-1)?.id;
    if (leases.length > count || (leases.length === count && more)) return { leases: leases.slice(0, count), more: true };
  }
  return { leases, more: false };
}
