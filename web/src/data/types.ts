// SPDX-License-Identifier: Apache-2.0

/** What the API answers, as far as the page reads it. */
import type { Schema } from '../model/controls.ts';

export interface Me {
  user_name: string; project_id: string; project_name: string; admin: boolean;
  may: Record<string, boolean>; server_time: number;
}
export interface Session {
  auth_strategy: 'keystone' | 'noauth'; signed_in: boolean; languages: string[];
  /** Ways to sign in at Keystone, by the names that users see. */
  sso?: string[];
}
export interface ResourceType {
  name: string; noun?: string | null; noun_one?: string | null; exclusive?: boolean;
  classes?: string[]; description?: string; origin?: string; reservation_schema?: Schema;
}
/** A resource that a reservation holds. */
export interface Held { id: string; name: string }
/** What a person does with a reservation; `command` or `value` can be empty. */
export interface Instruction { name: string; title: string; command: string; value: string }
/** With the fields of its type, which differ. */
export interface Reservation {
  id: string; resource_type: string; status: string; min?: number | string; max?: number | string;
  amount?: number | string; resources?: Held[]; resources_count?: number; instructions?: Instruction[];
  [field: string]: unknown;
}
export interface Lease {
  id: string; name: string; status: string; start_date: string; end_date: string;
  degraded: boolean; user_id: string; project_id: string; user_name?: string | null;
  project_name?: string | null; reservations: Reservation[]; before_end_date: string | null;
  notify_before_start: number[] | null; notices: string[] | null; events: unknown[];
  /** Of a flexible lease; null if the start is fixed. */
  earliest: string | null; latest: string | null; firm_at: string | null; wait_until?: string | null;
  /** Of a preemptible lease: what becomes of it between two slices, and how many seconds it needs from its start on. */
  preemptible?: boolean; yield?: string | null; time_left?: number | null;
}
/** A flexible lease that may still move, or waits: what is ahead of it, and when it may begin. */
export interface Queued {
  lease_id: string; name: string; status: string; place: number; forecast: string | null; room_at: string | null;
  ahead: { leases: number };
  waits_for: { resource_type: string; resource_class: string | null; missing: number; until: string | null }[];
}
export interface Feed {
  id: string; name: string; kind: string; lease_id: string | null; expires_at: string | null;
  stopped_reason: string | null;
}
export interface Offer {
  id: string; start_date: string; end_date: string; held_until: string | null;
  cost?: number | string | null; resources?: number | null;
  reservations: { reservation: number; amount: number }[];
  requirements?: { reservation: number; property: string; values: string[] }[];
}
/** What a refusal offers in place of a new lease; it cannot be taken by an id. */
export interface Alternative {
  start_date: string; end_date: string; reason: string;
  reservations: { reservation: number; amount: number }[];
  requirements?: { reservation: number; property: string; values: string[] }[];
}
/** Why a lease is refused: how many resources meet the requirement, and how many of them are free. */
export interface Reason {
  resource_type: string; matched?: number; free?: number; first_blocker_ends?: string | null;
  detail?: string;
}
export interface Step {
  effect: string; state: string; first_at: string; error: string | null;
  /** Null if it is about the whole lease; what was done is then in the lines. */
  resource_type: string | null; lines: { text: string }[];
}
export interface Awaited { event_type: string; time: string; due: string; why: string | null }
export interface History { steps: Step[]; awaited: Awaited[] }
export interface Series { free: number[]; total: number[] }
export interface Availability {
  start: string; end: string; step: number; buckets: number;
  groups: { value: string | null; whole: Series; slots?: Series }[];
}
